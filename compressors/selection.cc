#include "compressors/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/thread_team.h"
#include "compressors/arithmetic/selection.h"
#include "compressors/kernels/kernels.h"
#include "compressors/kernels/select.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"
#include "compressors/selection_candidates.h"
#include "compressors/selection_rank.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kSlack = kernels::kSelectSlack;

constexpr std::size_t kLinesAhead = 16;
constexpr std::size_t kLeastSample = 1024;  ///< that a guess is worth its time

/// Candidates that are kept before the selection falls back to all values.
std::size_t most_candidates(std::size_t n, std::size_t k) {
  return std::min(n, 2 * k + kRangeElements);
}

/// Of the lines that guesses are drawn from, beside a sampled threshold's own sample.
std::size_t guess_words(std::size_t n, SelectionRule rule) {
  return rule.sampled ? line_sample(n).size() : 0;
}

std::size_t scratch_words(std::size_t n, std::size_t k, SelectionRule rule) {
  if (k == 0) return 0;
  return selection_sample_size(n, k, rule) + guess_words(n, rule) +
         Candidates::words(n, most_candidates(n, k)) + 2 * (most_selected(n, k, rule) + kSlack);
}

/// Magnitudes by rank, drawn when they are first asked for.
class Sample {
 public:
  explicit Sample(std::span<float> values) : values_(values) {}
  std::span<float> values() const { return values_; }
  std::size_t size() const { return values_.size(); }
  std::uint32_t magnitude(std::size_t rank) {
    if (!ranks_) ranks_.emplace(nullptr, values_, 0, 0x7FFFFFFFu);
    return ranks_->at(rank).magnitude;
  }

 private:
  std::span<float> values_;
  std::optional<RankedMagnitudes> ranks_;
};

/// What is selected from: a tensor, its residual (or null), and the velocity's step that makes the
/// tensor (or null).
struct Source {
  const TensorView& tensor;
  float* residual = nullptr;
  const VelocityStep* step = nullptr;
  bool keeps_state = true;

  /// Element e of the sum, before anything is added.
  float sum_at(std::size_t e) const {
    return (step == nullptr ? tensor.data[e] : step->at(e)) +
           (residual == nullptr ? 0.0f : residual[e]);
  }
  void prefetch(std::size_t e) const {
    __builtin_prefetch(tensor.data.data() + e);
    if (residual != nullptr) __builtin_prefetch(residual + e);
    if (step != nullptr) __builtin_prefetch(step->gradient.data() + e);
  }
};

/// One selection, and what it keeps in scratch.
class Selection {
 public:
  Selection(std::string_view codec, const Source& source, std::size_t k,
            std::span<std::uint32_t> words, ThreadTeam* team, SelectionRule rule)
      : codec_(codec),
        source_(source),
        k_(k),
        team_(team),
        rule_(rule),
        sample_(take_floats(words, selection_sample_size(n(), k, rule))),
        lines_(rule.sampled ? take_floats(words, guess_words(n(), rule)) : sample_.values()),
        candidates_(codec, source.tensor, source.residual, team, most_candidates(n(), k), words) {
    const std::size_t most = most_selected(n(), k, rule) + kSlack;
    kept_.indices = take_words(words, most);
    kept_.values = take_floats(words, most);
  }

  Selected run() {
    const bool known = source_.step != nullptr && source_.step->finite;
    if (source_.residual != nullptr && source_.keeps_state && !known) require_finite_input();
    return rule_.sampled ? sampled() : exact();
  }

 private:
  std::size_t n() const { return source_.tensor.data.size(); }
  bool too_few(std::size_t wanted) const {
    return !candidates_.overflow() && candidates_.found() < wanted;
  }
  void require_finite_input() const {
    TensorView input = source_.tensor;
    if (source_.step != nullptr) input.data = source_.step->gradient;
    require_finite(codec_, input, shared_magnitude(team_, input.data));
  }

  Selected exact() {
    const Guess guess = guessed();
    scan(guess.lowest, guess.likely);
    if (candidates_.overflow() || too_few(k_)) scan_between();
    if (too_few(k_)) candidates_.scan_again(1);
    return cut();
  }

  void scan(std::uint32_t lowest, std::uint32_t cleared_from) {
    candidates_.scan(lowest, cleared_from, {.step = source_.step});
  }

  /// Where the sample misled: its lines differ too much, or fall in step with the tensor's rows.
  /// One more scan, for the geometric mean of what is wanted and what has room, takes a fraction of
  /// counting all values.
  void scan_between() {
    if (lines_.size() < kLeastSample) return;
    const auto room = static_cast<double>(most_candidates(n(), k_));
    const auto wanted = static_cast<std::size_t>(std::sqrt(static_cast<double>(k_) * room));
    const std::uint32_t between =
        std::clamp(lines_.magnitude(sample_rank(lines_.size(), wanted, n())), 1u, kInfinityBits);
    if (candidates_.overflow() == (between > candidates_.lowest())) candidates_.scan_again(between);
  }

  Selected sampled() {
    const bool guesses = lines_.size() >= kLeastSample;
    std::uint32_t lowest = guesses ? threshold_while_scanning() : threshold_before_scan();
    std::size_t found = reaching(lowest);
    for (int i = 0; i < kThresholdRetries && found < fewest_sampled(k_); ++i)
      found = reaching(lowest = lowered_threshold(lowest));
    if (candidates_.overflow() || found > most_selected(n(), k_, rule_)) return cut();
    if (found >= fewest_sampled(k_)) return keep({lowest, Bound::kAllTies});
    candidates_.scan_again(1);
    return cut();
  }

  /// The sample is read ahead of the rest, which takes a line of memory for each of its elements.
  std::uint32_t threshold_before_scan() {
    const SampleRule rule = sample_rule(n(), sample_.size());
    for_ranges(team_, sample_.size(), 1, 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        sample_.values()[i] = source_.sum_at(i * rule.stride);
    });
    const std::uint32_t lowest = sampled_threshold();
    scan(lowest, lowest);
    return lowest;
  }
  /// The sample is taken from what a scan for a guess has in the cache.
  std::uint32_t threshold_while_scanning() {
    const Guess guess = guessed();
    candidates_.scan(guess.lowest, guess.likely,
                     {.step = source_.step,
                      .sample = sample_.values(),
                      .rule = sample_rule(n(), sample_.size())});
    return sampled_threshold();
  }
  std::uint32_t sampled_threshold() {
    return std::min(sample_.magnitude(sample_rank(sample_.size(), k_, n())), kInfinityBits);
  }
  /// How many values reach `lowest`: among the candidates, where these are all that do.
  std::size_t reaching(std::uint32_t lowest) {
    if (candidates_.overflow() ? lowest != candidates_.lowest() : lowest < candidates_.lowest())
      candidates_.scan_again(lowest);
    return lowest == candidates_.lowest() ? candidates_.found() : candidates_.reaching(lowest);
  }

  /// Of the magnitude that k values reach.
  struct Guess {
    std::uint32_t lowest = 1;                  ///< 3 standard deviations of the sample below it
    std::uint32_t likely = Candidates::kNone;  ///< what reaches this is cleared at once
  };

  Guess guessed() {
    if (lines_.size() < kLeastSample) return {1, 1};
    draw_lines();
    const std::size_t mean = sample_rank(lines_.size(), k_, n());
    const std::uint32_t likely = std::clamp(lines_.magnitude(mean), 1u, kInfinityBits);
    const auto rank = mean + static_cast<std::size_t>(3 * deviation_of_rank(likely)) + 4;
    if (rank >= lines_.size()) return {1, likely};
    return {std::clamp(lines_.magnitude(rank), 1u, kInfinityBits), likely};
  }

  void draw_lines() {
    const LineSample rule = line_sample(n());
    for_ranges(team_, rule.lines, 1, 256, [&](std::size_t begin, std::size_t end) {
      for (std::size_t line = begin; line < end; ++line)
        draw_line(line * rule.stride, kLinesAhead * rule.stride,
                  &lines_.values()[line * kSampleLine]);
    });
  }
  /// Asks for the line `ahead` too; harmless beyond the end.
  void draw_line(std::size_t begin, std::size_t ahead, float* values) const {
    source_.prefetch(begin + ahead);
    for (std::size_t i = 0; i < kSampleLine; ++i) values[i] = source_.sum_at(begin + i);
  }

  /// Standard deviation of how many of a sample's values reach `magnitude`: that of its lines'
  /// counts, since neighbours may be alike.
  double deviation_of_rank(std::uint32_t magnitude) const {
    double sum = 0, squares = 0;
    for (std::size_t begin = 0; begin < lines_.size(); begin += kSampleLine) {
      int count = 0;
      for (const float value : lines_.values().subspan(begin, kSampleLine))
        count += magnitude_bits(value) >= magnitude ? 1 : 0;
      sum += count;
      squares += count * count;
    }
    const double lines = static_cast<double>(lines_.size() / kSampleLine);
    return std::sqrt(std::max(0.0, squares - sum * sum / lines));
  }

  /// Exactly the k largest, from the candidates or, where these are too few or too many, from all.
  Selected cut() {
    if (too_few(k_)) {  // fewer than k values are not 0
      const Bound zeros = {0, k_ - candidates_.found()};
      candidates_.scan_again(0);
      return candidates_.overflow() ? keep_of_all(zeros) : keep(zeros);
    }
    if (candidates_.overflow()) return keep_of_all(candidates_.bound_of_all(k_));
    const std::uint32_t low = candidates_.lowest();
    return keep(
        RankedMagnitudes(team_, candidates_.values(), low, std::max(candidates_.largest(), low))
            .at(k_));
  }

  Selected keep(const Bound& bound) { return result(bound, candidates_.keep(bound, kept_)); }
  Selected keep_of_all(const Bound& bound) {
    return result(bound, candidates_.keep_of_all(bound, kept_));
  }
  static Selected result(const Bound& bound, const KeptEntries& kept) {
    return {bound.magnitude, kept.ties, kept.indices.first(kept.count),
            kept.values.first(kept.count)};
  }

  std::string_view codec_;
  Source source_;
  std::size_t k_;
  ThreadTeam* team_;
  SelectionRule rule_;
  Sample sample_;  ///< of a sampled threshold
  Sample lines_;   ///< of guesses; of exact selections the same memory
  Candidates candidates_;
  KeptEntries kept_;
};

Selected select(std::string_view codec, const Source& source, std::size_t k,
                std::span<std::byte> scratch, ThreadTeam* team, SelectionRule rule) {
  const std::size_t n = source.tensor.data.size();
  GRADWIRE_ASSERT(k <= n);
  require_countable(codec, source.tensor.name, n);
  if (k == 0) {
    if (source.step != nullptr) source.step->take(0, n);
    return {};
  }
  const auto words = view_as<std::uint32_t>(scratch, scratch_words(n, k, rule));
  return Selection(codec, source, k, words, team, rule).run();
}

}  // namespace

void VelocityStep::take(std::size_t begin, std::size_t end) const {
  kernels::scale_and_add(momentum, gradient.data() + begin, factor, end - begin,
                         velocity.data() + begin);
}

std::size_t most_selected(std::size_t n, std::size_t k, SelectionRule rule) {
  return rule.sampled ? std::max(k, std::min<std::size_t>(n, most_sampled(k))) : k;
}

std::size_t selection_sample_size(std::size_t n, std::size_t k, SelectionRule rule) {
  if (!rule.sampled) return line_sample(n).size();
  const double share = rule.sample_share * static_cast<double>(n);
  const double entries = 160.0 * static_cast<double>(n) / static_cast<double>(k);
  return std::min(n, static_cast<std::size_t>(std::ceil(std::max(share, entries))));
}

std::size_t selection_scratch_size(std::size_t n, std::size_t k, SelectionRule rule) {
  return padded_to_8(scratch_words(n, k, rule) * sizeof(std::uint32_t));
}

Selected select_largest(std::string_view codec, const TensorView& tensor, std::size_t k,
                        std::span<std::byte> scratch, ThreadTeam* team, SelectionRule rule) {
  return select(codec, {.tensor = tensor}, k, scratch, team, rule);
}

Selected select_largest_of_sum(std::string_view codec, const EncodeJob& job,
                               std::span<float> residual, std::size_t k,
                               std::span<std::byte> scratch, SelectionRule rule,
                               const VelocityStep* step) {
  GRADWIRE_ASSERT(residual.size() == job.tensor.data.size());
  GRADWIRE_ASSERT(step == nullptr || step->velocity.data() == job.tensor.data.data());
  const Source source{job.tensor, residual.data(), step, job.keeps_state};
  return select(codec, source, k, scratch, job.team, rule);
}

}  // namespace gradwire::compressors
