#include "trainers/data/generated.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "trainers/data/variates.h"

namespace gradwire::trainers {
namespace {

/// What a stream draws; `worker` tells training (0) from held-out samples (1), `step` is a sample's
/// number where a sample has a stream of its own.
enum GeneratedStream : std::uint32_t {
  kCentreStream = kFirstReservedTensor + 0x30000000u,
  kClassStream,
  kNoiseStream,
  kFeatureStream,
  kValueStream,
  kTeacherStream,
  kChoiceStream,
  kTemplateStream,
  kShiftStream,
  kDistributionStream,
  kChainStream,
};

constexpr std::uint64_t kTemplateSeed = 0;

DataSet empty_set(const char* name, int classes, int height, int width) {
  DataSet data;
  data.name = name;
  data.classes = classes;
  data.channels = 1;
  data.height = height;
  data.width = width;
  return data;
}

/// Calls `draw(part, i)` for training sample i (part 0), then for held-out ones (part 1).
void draw_samples(DataSet& data, std::int64_t train, std::int64_t held_out,
                  const std::function<void(std::uint32_t part, std::uint32_t i)>& draw) {
  for (std::int64_t i = 0; i < train; ++i) draw(0, static_cast<std::uint32_t>(i));
  for (std::int64_t i = 0; i < held_out; ++i) draw(1, static_cast<std::uint32_t>(i));
  split_in_order(data, static_cast<std::size_t>(train), static_cast<std::size_t>(train + held_out));
}

/// The first place of `sums` (ascending) above u times their last.
std::size_t draw_place(const std::vector<double>& sums, double u) {
  const auto at = std::upper_bound(sums.begin(), sums.end() - 1, u * sums.back());
  return static_cast<std::size_t>(at - sums.begin());
}

std::vector<double> zipf_sums(std::size_t n, double exponent) {
  std::vector<double> sums(n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += portable_exp(-exponent * portable_log(static_cast<double>(i + 1)));
    sums[i] = sum;
  }
  return sums;
}

}  // namespace

DataSet make_gaussian_clusters(std::int64_t train, std::int64_t held_out, std::uint64_t seed) {
  constexpr std::uint32_t kCount = 30;
  constexpr std::size_t kFeatureCount = 64;
  constexpr double kSpread = 0.55;
  DataSet data = empty_set("gaussian-clusters", 10, 1, kFeatureCount);
  std::vector<double> centres(kCount * kFeatureCount);
  for (std::size_t e = 0; e < centres.size(); ++e)
    centres[e] = kSpread * normal({seed, 0, 0, kCentreStream}, e);
  draw_samples(data, train, held_out, [&](std::uint32_t part, std::uint32_t i) {
    const std::uint32_t centre = below(kCount, philox_word({seed, 0, part, kClassStream}, i));
    for (std::size_t f = 0; f < kFeatureCount; ++f) {
      const double noise =
          normal({seed, 0, part, kNoiseStream}, std::uint64_t{i} * kFeatureCount + f);
      data.numbers.push_back(static_cast<float>(centres[centre * kFeatureCount + f] + noise));
    }
    data.labels.push_back(static_cast<std::uint8_t>(centre % 10));
  });
  return data;
}

DataSet make_sparse_linear(std::int64_t train, std::int64_t held_out, std::uint64_t seed) {
  constexpr std::size_t kFeatureCount = 16384, kDraws = 40;
  DataSet data = empty_set("sparse-linear", 2, 1, kFeatureCount);
  const std::vector<double> sums = zipf_sums(kFeatureCount, 1.1);
  const double unit = 1 / std::sqrt(static_cast<double>(kDraws));
  data.entry_begin.push_back(0);
  draw_samples(data, train, held_out, [&](std::uint32_t part, std::uint32_t i) {
    std::map<std::uint32_t, int> drawn;
    for (std::uint32_t draw = 0; draw < kDraws; ++draw) {
      const double u = open_uniform({seed, i, part, kFeatureStream}, draw);
      ++drawn[static_cast<std::uint32_t>(draw_place(sums, u))];
    }
    double margin = 0;
    for (const auto& [feature, times] : drawn) {
      margin += times * normal({seed, 0, 0, kTeacherStream}, feature);
      data.entries.push_back({feature, static_cast<float>(times * unit)});
    }
    data.entry_begin.push_back(data.entries.size());
    data.labels.push_back(margin > 0);
  });
  return data;
}

DataSet make_sparse_logit(std::int64_t train, std::int64_t held_out, std::uint64_t seed) {
  constexpr std::uint32_t kFeatureCount = 1000, kRelevant = 30;
  constexpr double kPresent = 0.05, kWeightSpread = 1.5, kMargin = 2;
  DataSet data = empty_set("sparse-logit", 2, 1, kFeatureCount);
  std::vector<double> weights(kFeatureCount, 0.0);
  WordSequence choice({seed, 0, 0, kChoiceStream});
  for (std::uint32_t chosen = 0; chosen < kRelevant;) {
    const std::uint32_t feature = below(kFeatureCount, choice.word());
    if (weights[feature] != 0) continue;
    weights[feature] = kWeightSpread * normal({seed, 0, 0, kTeacherStream}, feature);
    ++chosen;
  }
  data.entry_begin.push_back(0);
  draw_samples(data, train, held_out, [&](std::uint32_t part, std::uint32_t i) {
    double sum = 0;
    for (std::uint32_t f = 0; f < kFeatureCount; ++f) {
      const std::uint64_t element = std::uint64_t{i} * kFeatureCount + f;
      if (open_uniform({seed, 0, part, kFeatureStream}, element) >= kPresent) continue;
      const double value = normal({seed, 0, part, kValueStream}, element);
      sum += weights[f] * value;
      data.entries.push_back({f, static_cast<float>(value)});
    }
    data.entry_begin.push_back(data.entries.size());
    // u < 1 / (1 + e^-z) as ln(u / (1 - u)) < z.
    const double u = open_uniform({seed, 0, part, kClassStream}, i);
    data.labels.push_back(portable_log(u / (1 - u)) < kMargin * sum);
  });
  return data;
}

namespace {

constexpr std::size_t kGlyphSide = 16, kGlyphPixels = kGlyphSide * kGlyphSide;

void blur(std::vector<double>& field) {
  std::vector<double> mean(kGlyphPixels, 0.0);
  for (std::size_t y = 0; y < kGlyphSide; ++y)
    for (std::size_t x = 0; x < kGlyphSide; ++x) {
      double sum = 0;
      for (std::size_t dy = kGlyphSide - 1; dy <= kGlyphSide + 1; ++dy)
        for (std::size_t dx = kGlyphSide - 1; dx <= kGlyphSide + 1; ++dx)
          sum += field[(y + dy) % kGlyphSide * kGlyphSide + (x + dx) % kGlyphSide];
      mean[y * kGlyphSide + x] = sum / 9;
    }
  field = mean;
}

std::vector<double> glyph_template(std::uint32_t glyph) {
  std::vector<double> field(kGlyphPixels);
  for (std::size_t p = 0; p < kGlyphPixels; ++p)
    field[p] = normal({kTemplateSeed, 0, 0, kTemplateStream}, glyph * kGlyphPixels + p);
  blur(field);
  blur(field);
  const double mean = std::accumulate(field.begin(), field.end(), 0.0) / kGlyphPixels;
  double squares = 0;
  for (const double value : field) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / kGlyphPixels);
  for (double& value : field) value = (value - mean) / deviation;
  return field;
}

}  // namespace

DataSet make_glyph(std::int64_t train, std::int64_t held_out, double sigma, std::uint64_t seed) {
  DataSet data = empty_set("glyph", 10, kGlyphSide, kGlyphSide);
  std::vector<std::vector<double>> templates;
  for (std::uint32_t glyph = 0; glyph < 10; ++glyph) templates.push_back(glyph_template(glyph));
  draw_samples(data, train, held_out, [&](std::uint32_t part, std::uint32_t i) {
    const PhiloxBlock draw = philox_block({seed, 0, part, kShiftStream}, i);
    const std::uint32_t glyph = below(10, draw.word[0]);
    // A roll by dx in -2 .. 2 reads pixel x - dx: + 2 - (0 .. 4), kept positive by the side.
    const std::size_t down = kGlyphSide + 2 - below(5, draw.word[1]);
    const std::size_t right = kGlyphSide + 2 - below(5, draw.word[2]);
    const double amplitude = 0.7 + 0.6 * open_uniform(draw.word[3]);
    for (std::size_t p = 0; p < kGlyphPixels; ++p) {
      const std::size_t from =
          (p / kGlyphSide + down) % kGlyphSide * kGlyphSide + (p % kGlyphSide + right) % kGlyphSide;
      const double noise =
          sigma * normal({seed, 0, part, kNoiseStream}, std::uint64_t{i} * kGlyphPixels + p);
      data.numbers.push_back(static_cast<float>(amplitude * templates[glyph][from] + noise));
    }
    data.labels.push_back(static_cast<std::uint8_t>(glyph));
  });
  return data;
}

MarkovSource::MarkovSource(std::uint64_t seed) : distributions_(kTokens * 5) {
  constexpr std::size_t kLikely = 6;
  constexpr double kUniformShare = 0.05, kShape = 0.7;
  for (std::size_t d = 0; d < distributions_.size(); ++d) {
    WordSequence words({seed, static_cast<std::uint32_t>(d), 0, kDistributionStream});
    distributions_[d].fill(kUniformShare / kTokens);
    std::vector<std::uint32_t> likely;
    while (likely.size() < kLikely) {
      const std::uint32_t token = below(kTokens, words.word());
      if (std::find(likely.begin(), likely.end(), token) == likely.end()) likely.push_back(token);
    }
    double weights[kLikely], sum = 0;
    for (double& weight : weights) sum += weight = words.gamma(kShape);
    for (std::size_t k = 0; k < kLikely; ++k)
      distributions_[d][likely[k]] += (1 - kUniformShare) * weights[k] / sum;
  }
}

DataSet make_markov(std::int64_t train_tokens, std::int64_t held_out_tokens, std::uint64_t seed) {
  constexpr std::size_t kSequence = 32;
  DataSet data;
  data.name = "markov";
  data.classes = MarkovSource::kTokens;
  data.sequence = kSequence;
  const std::size_t train = static_cast<std::size_t>(train_tokens) / kSequence;
  const std::size_t held_out = static_cast<std::size_t>(held_out_tokens) / kSequence;
  const MarkovSource source(seed);
  std::uint32_t last = 0, before = 0;
  // The last token of all is a target only.
  for (std::uint64_t i = 0; i < (train + held_out) * kSequence + 1; ++i) {
    const auto& distribution = source.next(last, before);
    double rest = open_uniform({seed, 0, 0, kChainStream}, i);
    std::uint32_t token = 0;
    while (token + 1 < MarkovSource::kTokens && rest >= distribution[token])
      rest -= distribution[token++];
    data.tokens.push_back(static_cast<std::uint8_t>(token));
    before = last;
    last = token;
  }
  split_in_order(data, train, train + held_out);
  return data;
}

}  // namespace gradwire::trainers
