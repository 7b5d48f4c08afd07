#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "base/thread_team.h"
#include "compressors/codecs/randomk/arithmetic.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

CodecPtr randomk(const char* k, const char* unbiased = "false") {
  return make_codec("randomk", {{"k", k}, {"unbiased", unbiased}});
}

RandomStream at_step(std::uint32_t step, std::uint32_t worker = 0) {
  return {.seed = 5, .step = step, .worker = worker, .tensor = 1};
}

}  // namespace

TEST_CASE("the permutation visits every element once") {
  for (const std::uint64_t n : {1ull, 2ull, 3ull, 255ull, 256ull, 257ull, 5000ull}) {
    const PermutationRule rule = permutation_rule(n);
    std::vector<std::uint32_t> words(permutation_words(rule));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = philox_word({.seed = n}, i);
    std::vector<std::uint32_t> image(n), all(n);
    for (std::uint32_t i = 0; i < n; ++i) image[i] = permuted_index(i, rule, words.data());
    std::sort(image.begin(), image.end());
    std::iota(all.begin(), all.end(), 0u);
    CHECK(image == all);
  }
  CHECK(permutation_rule(std::uint64_t{1} << 32).left == 16);
  CHECK(permutation_rule((std::uint64_t{1} << 20) + 1).right == 11);
}

TEST_CASE("randomk sends k values of the tensor, the same places for every worker") {
  const auto codec = randomk("40");
  const auto x = random_values(1000);
  const auto payload = encode(*codec, x, {.stream = at_step(3)});
  CHECK(payload.size() == 8 + 4 * 40);
  const auto y = decode(*codec, payload, 1000);
  CHECK(std::count_if(y.begin(), y.end(), [](float v) { return v != 0; }) == 40);
  for (std::size_t e = 0; e < 1000; ++e) REQUIRE((y[e] == 0 || y[e] == x[e]));
  CHECK(encode(*codec, x, {.stream = at_step(3, 9)}) == payload);
  CHECK(encode(*codec, x, {.stream = at_step(4)}) != payload);
  const auto own = make_codec("randomk", {{"k", "40"}, {"shared", "false"}});
  CHECK(encode(*own, x, {.stream = at_step(3, 9)}) != encode(*own, x, {.stream = at_step(3, 8)}));
}

TEST_CASE("randomk is the same on any number of threads") {
  const auto codec = make_codec("randomk", {{"ratio", "0.5"}});
  const auto x = random_values(100000);
  const auto payload = encode(*codec, x);
  std::vector<std::byte> again(payload.size()), scratch(codec->scratch_size(x.size()));
  ThreadTeam team(3);
  EncodeJob job{.tensor = {.name = "layer", .shape = {}, .data = x},
                .side = {},
                .draws = {CallOptions{}.stream, 0, {}},
                .payload = again,
                .team = &team};
  codec->encode(job, scratch);
  CHECK(again == payload);
  std::vector<float> y(x.size());
  codec->decode({.payload = payload, .side = {}, .values = y, .team = &team}, scratch);
  CHECK(y == decode(*codec, payload, x.size()));
}

// Places are drawn without replacement: P(i sent) = k/n, P(i and j sent) = k(k-1)/(n(n-1)).
TEST_CASE("every element, and every pair, is sent as often as any other") {
  const auto codec = randomk("3");
  const std::size_t n = 10, draws = 20000;
  const std::vector<float> x(n, 1.0f);
  std::vector<double> single(n), pair(n * n);
  for (std::uint32_t step = 0; step < draws; ++step) {
    const auto y = decode(*codec, encode(*codec, x, {.stream = at_step(step)}), n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j) (i == j ? single[i] : pair[i * n + j]) += y[i] * y[j];
  }
  const auto near = [&](double count, double p) {
    return std::abs(count - p * draws) <= 5 * std::sqrt(p * (1 - p) * draws);
  };
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(near(single[i], 0.3));
    for (std::size_t j = i + 1; j < n; ++j) CHECK(near(pair[i * n + j], 6.0 / 90.0));
  }
}

// Scaled by n/k, element e is x n/k with probability k/n: mean x, variance x^2 (n/k - 1).
TEST_CASE("scaled values are unbiased, unscaled ones are not") {
  const std::size_t n = 20, draws = 4000;
  const auto x = random_values(n);
  const auto mean_of = [&](const Codec& codec) {
    std::vector<double> mean(n);
    for (std::uint32_t step = 0; step < draws; ++step) {
      const auto y = decode(codec, encode(codec, x, {.stream = at_step(step)}), n);
      for (std::size_t e = 0; e < n; ++e) mean[e] += y[e] / static_cast<double>(draws);
    }
    return mean;
  };
  const auto scaled = mean_of(*randomk("5", "true")), plain = mean_of(*randomk("5"));
  std::size_t biased = 0;
  for (std::size_t e = 0; e < n; ++e) {
    const double error = std::abs(x[e]) * std::sqrt((4.0 - 1) / draws);
    CHECK(std::abs(scaled[e] - x[e]) <= 5 * error);
    biased += std::abs(plain[e] - x[e]) > 5 * error;  // negative control: the mean is x k/n
  }
  CHECK(biased == n);
}

TEST_CASE("E ||x - randomk(x)||^2 = (1 - k/n) ||x||^2") {
  const std::size_t n = 50, draws = 4000;
  const auto codec = randomk("10");
  const auto x = random_values(n);
  double norm = 0, fourth = 0, mean = 0;
  for (const float v : x) norm += double{v} * v, fourth += std::pow(double{v}, 4);
  for (std::uint32_t step = 0; step < draws; ++step) {
    const auto y = decode(*codec, encode(*codec, x, {.stream = at_step(step)}), n);
    for (std::size_t e = 0; e < n; ++e) mean += (x[e] - y[e]) * double{x[e] - y[e]} / draws;
  }
  // Sampling without replacement: variance of the sum of k of the squares.
  const double k = 10, variance = k * (n - k) / (n - 1.0) * (fourth / n - norm / n * norm / n);
  CHECK(std::abs(mean - (1 - k / n) * norm) <= 5 * std::sqrt(variance / draws));
}

TEST_CASE("randomk refuses what no encoder writes, and values too large to scale") {
  using Catch::Matchers::Contains;
  const auto codec = randomk("1", "true");
  CHECK_THROWS_WITH(decode(*codec, std::vector<std::byte>(11), 3), Contains("12 bytes"));
  auto payload = encode(*codec, {1.0f, 2.0f, 3.0f});
  payload[10] = std::byte{0xC0}, payload[11] = std::byte{0x7F};
  CHECK_THROWS_WITH(decode(*codec, payload, 3),
                    Contains("byte 8 begins a value that is not finite"));
  CHECK_THROWS_WITH(encode(*codec, {3e38f, 3e38f, 3e38f}), Contains("times n / k is infinite"));
  const auto fields = codec->explain(encode(*codec, {1.0f, 2.0f, 3.0f}), 3, {});
  CHECK(fields[0].bytes + fields[1].bytes == 12);
}
