#include "trainers/data/generated.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/hash.h"
#include "trainers/data/variates.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

TEST_CASE("logarithm, exponential and normal quantile are right to the last places") {
  for (const double x : {1e-300, 2.3e-10, 0.1, 0.7071, 0.999, 1.0, 1.5, 16384.0, 1e300}) {
    CHECK(portable_log(x) == Approx(std::log(x)).epsilon(1e-15).margin(1e-18));
  }
  for (const double x : {-600.0, -10.7, -0.3, 0.0, 1e-9, 0.5, 20.1, 600.0}) {
    CHECK(portable_exp(x) == Approx(std::exp(x)).epsilon(1e-15));
  }
  // Python's statistics.NormalDist().inv_cdf at the same points.
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.975) == Approx(1.9599639845400536).epsilon(1e-15));
  CHECK(normal_quantile(0.3) == Approx(-0.5244005127080407).epsilon(1e-15));
  CHECK(normal_quantile(0.001) == Approx(-3.090232306167813).epsilon(1e-15));
  CHECK(normal_quantile(std::ldexp(1, -33)) == Approx(-6.337957754553789).epsilon(1e-15));
}

TEST_CASE("gamma variates have their mean and variance, which both are the shape") {
  for (const double shape : {0.7, 2.5}) {
    WordSequence words({5, 0, 0, kFirstReservedTensor});
    constexpr int kCount = 40000;
    double sum = 0, squares = 0;
    for (int i = 0; i < kCount; ++i) {
      const double x = words.gamma(shape);
      sum += x, squares += x * x;
    }
    const double mean = sum / kCount;
    // The mean's standard error: sqrt(shape / 40000) = 0.005 sqrt(shape).
    CHECK(std::abs(mean - shape) < 5 * 0.005 * std::sqrt(shape));
    CHECK(squares / kCount - mean * mean == Approx(shape).epsilon(0.06));
  }
}

std::uint64_t hash_of(const DataSet& data) {
  Hasher hasher;
  hasher.add_bytes(std::as_bytes(std::span(data.numbers)));
  hasher.add_bytes(std::as_bytes(std::span(data.labels)));
  hasher.add_bytes(std::as_bytes(std::span(data.tokens)));
  hasher.add_bytes(std::as_bytes(std::span(data.entries)));
  return hasher.value();
}

TEST_CASE("generated sets are the same bits on every machine") {
  CHECK(hash_of(make_gaussian_clusters(50, 10, 1)) == 0x11181761c263703c);
  CHECK(hash_of(make_sparse_linear(50, 10, 1)) == 0x2a45bc30f71b79bc);
  CHECK(hash_of(make_sparse_logit(50, 10, 1)) == 0x9903360825e0a49a);
  CHECK(hash_of(make_glyph(50, 10, 1.5, 1)) == 0xaf70a5b3fb1b43bb);
  CHECK(hash_of(make_markov(640, 320, 1)) == 0x7642261b7b6cbe07);
}

TEST_CASE("the data's seed, not the run's, decides what is generated") {
  const auto load = [](std::uint64_t run_seed, std::optional<std::uint64_t> seed) {
    return hash_of(load_data_set({"glyph", "", {{"samples", "20"}}, run_seed, seed}));
  };
  CHECK(load(1, {}) == load(2, {}));
  CHECK(load(1, {}) == load(7, 1));  // 1 is the default
  CHECK(load(1, 2) != load(1, 3));
  // What ships as real data is split by the run's seed, unless the scenario gives one.
  const auto held_out = [](std::uint64_t run_seed, std::optional<std::uint64_t> seed) {
    return load_data_set({"digits", "", {}, run_seed, seed}).held_out;
  };
  CHECK(held_out(1, {}) != held_out(2, {}));
  CHECK(held_out(1, 5) == held_out(2, 5));
}

TEST_CASE("gaussian clusters have their moments, classes and independent parts") {
  const DataSet data = make_gaussian_clusters(8000, 2000, 1);
  CHECK(data.train.size() == 8000);
  CHECK(data.held_out.size() == 2000);
  CHECK(data.features() == 64);
  double sum = 0, squares = 0;
  for (const float x : data.numbers) sum += x, squares += double{x} * x;
  const auto n = static_cast<double>(data.numbers.size());
  // Between centres 0.55^2 = 0.3025, of 30 * 64 draws (relative deviation sqrt(2 / 1920) = 3 %),
  // within them 1: 1.3025 +- 0.01.
  CHECK(squares / n == Approx(1.3025).margin(0.03));
  CHECK(sum / n == Approx(0).margin(5 * 0.55 / std::sqrt(1920.0)));
  std::map<int, int> of_class;
  for (const std::uint8_t label : data.labels) ++of_class[label];
  REQUIRE(of_class.size() == 10);
  // 1,000 a class, deviation sqrt(10000 * 0.1 * 0.9) = 30.
  for (const auto& [label, count] : of_class) CHECK(std::abs(count - 1000) < 150);
  // A sample does not depend on how many there are.
  const DataSet fewer = make_gaussian_clusters(100, 50, 1);
  CHECK(std::equal(fewer.numbers.begin(), fewer.numbers.begin() + 6400, data.numbers.begin()));
  CHECK(std::equal(fewer.numbers.begin() + 6400, fewer.numbers.end(),
                   data.numbers.begin() + 8000 * 64));
  CHECK(!std::equal(data.numbers.begin(), data.numbers.begin() + 64,
                    data.numbers.begin() + 8000 * 64));
}

TEST_CASE("samples of sparse-linear are 40 draws by Zipf's law") {
  const DataSet data = make_sparse_linear(6000, 2000, 1);
  REQUIRE(data.entry_begin.size() == 8001);
  std::vector<double> drawn(16384, 0);
  double ones = 0;
  for (std::size_t i = 0; i < 8000; ++i) {
    double sum = 0;
    for (std::size_t e = data.entry_begin[i]; e < data.entry_begin[i + 1]; ++e) {
      const double times = data.entries[e].value * std::sqrt(40.0);
      if (e > data.entry_begin[i]) CHECK(data.entries[e].feature > data.entries[e - 1].feature);
      drawn[data.entries[e].feature] += times;
      sum += times;
    }
    CHECK(sum == Approx(40).epsilon(1e-6));
    ones += data.labels[i];
  }
  CHECK(ones > 0);
  CHECK(ones < 8000);
  // Draws by place: weights 1^-1.1 : 2^-1.1 = 2.14, and about 10 (100^-0.1 - 200^-0.1) = 0.4224 to
  // 10 (1000^-0.1 - 2000^-0.1) = 0.3355 for places 100..199 and 1000..1999: 1.259.
  const auto count = [&](std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t f = from; f < to; ++f) sum += drawn[f];
    return sum;
  };
  CHECK(drawn[0] / drawn[1] == Approx(std::pow(2, 1.1)).epsilon(0.03));
  CHECK(count(100, 200) / count(1000, 2000) == Approx(1.259).epsilon(0.03));
  // The 32 samples of a batch have 515 different features on average: sum of 1 - (1 - p_j)^1280.
  double different = 0;
  for (std::size_t batch = 0; batch < 100; ++batch) {
    std::set<std::uint32_t> seen;
    for (std::size_t e = data.entry_begin[32 * batch]; e < data.entry_begin[32 * batch + 32]; ++e)
      seen.insert(data.entries[e].feature);
    different += static_cast<double>(seen.size()) / 100;
  }
  CHECK(different == Approx(515).epsilon(0.02));
  // A batch is dense, and nothing is left in it of the batch before.
  Batch batch, fresh;
  gather(data, std::vector<std::uint32_t>{1, 2}, batch);
  gather(data, std::vector<std::uint32_t>{3, 4}, batch);
  gather(data, std::vector<std::uint32_t>{3, 4}, fresh);
  CHECK(batch.inputs == fresh.inputs);
  CHECK(std::count_if(batch.inputs.begin(), batch.inputs.end(), [](float x) { return x != 0; }) ==
        static_cast<std::ptrdiff_t>(data.entry_begin[5] - data.entry_begin[3]));
}

/// Minimises mean log(1 + e^-(2y - 1) w x) + lambda |w|_1 over the training samples by proximal
/// gradient steps with momentum (FISTA); returns {objective, share of non-zero weights}.
std::pair<double, double> sparse_optimum(const DataSet& data, double lambda) {
  const std::size_t n = data.train.size(), d = data.features();
  std::vector<double> w(d, 0), v(d, 0), gradient(d);
  constexpr double kRate = 4;
  double momentum = 1, objective = 0;
  for (int step = 0; step < 400; ++step) {
    std::fill(gradient.begin(), gradient.end(), 0.0);
    objective = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double at_v = 0, at_w = 0;
      for (std::size_t e = data.entry_begin[i]; e < data.entry_begin[i + 1]; ++e) {
        at_v += v[data.entries[e].feature] * double{data.entries[e].value};
        at_w += w[data.entries[e].feature] * double{data.entries[e].value};
      }
      const double sign = data.labels[i] ? 1 : -1;
      objective += std::log1p(std::exp(-sign * at_w)) / static_cast<double>(n);
      const double slope = -sign / (1 + std::exp(sign * at_v)) / static_cast<double>(n);
      for (std::size_t e = data.entry_begin[i]; e < data.entry_begin[i + 1]; ++e)
        gradient[data.entries[e].feature] += slope * double{data.entries[e].value};
    }
    const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (std::size_t f = 0; f < d; ++f) {
      objective += lambda * std::abs(w[f]);
      const double x = v[f] - kRate * gradient[f];
      const double shrunk = std::copysign(std::max(0.0, std::abs(x) - kRate * lambda), x);
      v[f] = shrunk + (momentum - 1) / next * (shrunk - w[f]);
      w[f] = shrunk;
    }
    momentum = next;
  }
  const auto kept = std::count_if(w.begin(), w.end(), [](double x) { return x != 0; });
  return {objective, static_cast<double>(kept) / static_cast<double>(d)};
}

TEST_CASE("sparse-logit has 5 % of its features and a sparse optimum") {
  const DataSet data = make_sparse_logit(4000, 1000, 1);
  // 5 % of 5000 * 1000, deviation sqrt(5e6 * 0.05 * 0.95) = 487.
  CHECK(std::abs(static_cast<double>(data.entries.size()) - 250e3) < 5 * 487);
  CHECK(data.classes == 2);
  // A prototype's draw of the same definition has its optimum at 0.5998 with 3.1 % non-zeros for
  // lambda 0.004; no weights: ln 2 = 0.693.
  const auto [objective, kept] = sparse_optimum(data, 4e-3);
  INFO(objective << ", " << kept);
  CHECK(objective == Approx(0.60).margin(0.04));
  CHECK(kept < 0.06);
  CHECK(kept > 0.01);
}

TEST_CASE("glyphs are rolled and scaled templates, plus noise of the given deviation") {
  const auto moments = [](const DataSet& data, std::size_t sample) {
    double sum = 0, squares = 0;
    for (std::size_t p = 0; p < 256; ++p) {
      const double x = data.numbers[sample * 256 + p];
      sum += x, squares += x * x;
    }
    return std::pair(sum / 256, std::sqrt(squares / 256));
  };
  const DataSet plain = make_glyph(300, 10, 0, 1);
  std::map<int, std::set<std::uint64_t>> shifts;
  for (std::size_t i = 0; i < 300; ++i) {
    // Templates have mean 0 and deviation 1; rolling keeps both, the amplitude scales.
    const auto [mean, deviation] = moments(plain, i);
    CHECK(mean == Approx(0).margin(1e-6));
    CHECK(deviation > 0.7 - 1e-6);
    CHECK(deviation < 1.3 + 1e-6);
    // 25 rolls at most: the place of the largest pixel tells them apart.
    const auto begin = plain.numbers.begin() + static_cast<std::ptrdiff_t>(i * 256);
    shifts[plain.labels[i]].insert(
        static_cast<std::uint64_t>(std::max_element(begin, begin + 256) - begin));
  }
  REQUIRE(shifts.size() == 10);
  for (const auto& [label, places] : shifts) {
    CHECK(places.size() <= 25);
    CHECK(places.size() > 5);
  }
  // Another seed draws other samples of the same templates.
  const DataSet other = make_glyph(300, 10, 0, 2);
  CHECK(other.labels != plain.labels);
  for (std::size_t i = 0; i < 300; ++i) {
    const auto begin = other.numbers.begin() + static_cast<std::ptrdiff_t>(i * 256);
    shifts[other.labels[i]].insert(
        static_cast<std::uint64_t>(std::max_element(begin, begin + 256) - begin));
  }
  for (const auto& [label, places] : shifts) CHECK(places.size() <= 25);
  // Squares add: amplitude^2 has mean (1.3^3 - 0.7^3) / (3 * 0.6) = 1.03, noise 2.25.
  const DataSet noisy = make_glyph(1000, 10, 1.5, 1);
  double squares = 0;
  for (const float x : noisy.numbers) squares += double{x} * x;
  CHECK(squares / static_cast<double>(noisy.numbers.size()) == Approx(3.28).epsilon(0.03));
}

TEST_CASE("markov's next token is predictable from two tokens, and not from none") {
  const MarkovSource source(1);
  for (std::uint32_t last = 0; last < 50; ++last) {
    double sum = 0;
    for (const double p : source.next(last, 13)) sum += p;
    CHECK(sum == Approx(1).epsilon(1e-12));
    CHECK(source.next(last, 13) == source.next(last, 3));  // 13 mod 5 = 3
  }
  const DataSet data = make_markov(60000, 10000, 1);
  CHECK(data.train.size() == 1875);
  CHECK(data.held_out.size() == 312);
  CHECK(data.classes == 50);
  std::vector<double> count(50, 0);
  double surprise = 0;
  for (std::size_t i = 2; i < data.tokens.size(); ++i) {
    surprise -= std::log(source.next(data.tokens[i - 1], data.tokens[i - 2])[data.tokens[i]]);
    ++count[data.tokens[i]];
  }
  const auto n = static_cast<double>(data.tokens.size() - 2);
  double entropy = 0;
  for (const double c : count) entropy -= c / n * std::log(c / n);
  INFO(std::exp(surprise / n) << ", " << std::exp(entropy));
  // A prototype's draw of the same definition: perplexity 5.24, without context 48.3.
  CHECK(std::exp(surprise / n) == Approx(5.24).margin(0.5));
  CHECK(std::exp(entropy) == Approx(48.3).margin(1.5));
}

TEST_CASE("a set that is generated takes no path, and its options are checked") {
  CHECK_THROWS_WITH(load_data_set("markov", "somewhere", 1), Catch::Contains("takes no path"));
  CHECK_THROWS_WITH(load_data_set({"glyph", "", {{"sigam", "1"}}, 1}), Catch::Contains("sigma"));
}

}  // namespace
}  // namespace gradwire::trainers
