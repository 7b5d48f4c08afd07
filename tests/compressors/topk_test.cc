#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "codec_fixture.h"
#include "compressors/codecs/codecs.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

CodecPtr topk(const char* ratio) {
  return make_codec("topk", {{"ratio", ratio}});
}

double squared_norm(const std::vector<float>& x) {
  return std::inner_product(x.begin(), x.end(), x.begin(), 0.0, std::plus<>(),
                            [](double a, double b) { return a * b; });
}

std::vector<float> difference(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

// By full sort on (magnitude descending, index ascending): the oracle.
std::vector<float> keep_largest(const std::vector<float>& x, std::size_t k) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return std::abs(x[a]) > std::abs(x[b]); });
  std::vector<float> kept(x.size(), 0.0f);
  for (std::size_t i = 0; i < k; ++i) kept[order[i]] = x[order[i]];
  return kept;
}

}  // namespace

TEST_CASE("topk worked example, both ways") {
  // n = 6, ratio .5: k = 3. Magnitudes .5 2 .25 2 1 .5: indices 1, 3 (-2), 4.
  // 03000000 | 01000000 00000040 | 03000000 000000c0 | 04000000 0000803f
  const auto codec = topk("0.5");
  const std::vector<float> x = {0.5f, 2.0f, 0.25f, -2.0f, 1.0f, -0.5f};
  const auto payload = encode(*codec, x);
  CHECK(hex(payload) ==
        "030000000100000000000040"
        "03000000000000c0"
        "040000000000803f");
  CHECK(decode(*codec, payload, 6) == std::vector<float>{0, 2, 0, -2, 1, 0});
  // A tie at the threshold goes to the lower index: k = 4 takes element 0 (.5), not 5 (-.5).
  const auto four = topk("0.6");
  CHECK(decode(*four, encode(*four, x), 6) == std::vector<float>{0.5f, 2, 0, -2, 1, 0});
}

TEST_CASE("topk_count is max(1, ceil(ratio n))") {
  CHECK(topk_count(0, 0.01) == 0);
  CHECK(topk_count(1, 0.01) == 1);
  CHECK(topk_count(100, 0.01) == 1);
  CHECK(topk_count(101, 0.01) == 2);
  CHECK(topk_count(100, 0.07) == 7);  // 0.07 * 100 is 7.000000000000001 in double
  CHECK(topk_count(300, 0.01) == 3);
  CHECK(topk_count(7, 1.0) == 7);
  CHECK(topk_count(std::size_t{1} << 34, 1.0) == std::size_t{1} << 34);
}

TEST_CASE("topk selects what a full sort selects") {
  for (const std::size_t n : {1u, 2u, 15u, 16u, 17u, 1000u, 5003u})
    for (const double ratio : {0.001, 0.01, 0.3, 1.0})
      for (const bool coarse : {false, true}) {
        auto x = random_values(n, static_cast<std::uint32_t>(n));
        if (coarse)  // many ties
          for (float& value : x) value = std::round(value * 20) / 20;
        const auto codec = make_codec("topk", {{"ratio", std::to_string(ratio)}});
        REQUIRE(decode(*codec, encode(*codec, x), n) == keep_largest(x, topk_count(n, ratio)));
      }
}

TEST_CASE("topk is exact for tensors large enough to be sampled, and where the sample misleads") {
  const std::size_t n = 65536;  // the sample takes every 16th value
  const auto codec = topk("0.01");
  auto x = random_values(n);
  CHECK(decode(*codec, encode(*codec, x), n) == keep_largest(x, topk_count(n, 0.01)));
  // Every sampled value is large, and there are 4,096 of them: fewer than the k that is wanted.
  for (std::size_t e = 0; e < n; e += 16) x[e] += 10.0f;
  CHECK(decode(*codec, encode(*codec, x), n) == keep_largest(x, topk_count(n, 0.01)));
  const auto tenth = topk("0.1");
  CHECK(decode(*tenth, encode(*tenth, x), n) == keep_largest(x, topk_count(n, 0.1)));
  // Every sampled value is small: nearly all others are candidates.
  for (std::size_t e = 0; e < n; e += 16) x[e] = 0.0f;
  CHECK(decode(*codec, encode(*codec, x), n) == keep_largest(x, topk_count(n, 0.01)));
}

TEST_CASE("topk contracts: ||x - topk(x)||^2 <= (1 - k/n) ||x||^2, equality for constant |x|") {
  const auto codec = topk("0.1");
  const auto x = random_values(1000);
  const auto kept = decode(*codec, encode(*codec, x), 1000);
  const double bound = (1 - 100.0 / 1000) * squared_norm(x);
  CHECK(squared_norm(difference(x, kept)) <= bound);
  auto inverted = x;  // negative control: keeping the smallest instead breaks the bound
  for (float& value : inverted) value = 1.0f / value;
  const auto smallest = keep_largest(inverted, 100);
  auto wrong = x;
  for (std::size_t i = 0; i < wrong.size(); ++i)
    if (smallest[i] == 0.0f) wrong[i] = 0.0f;
  CHECK(squared_norm(difference(x, wrong)) > bound);
  const std::vector<float> constant(1000, -2.0f);
  const auto sent = decode(*codec, encode(*codec, constant), 1000);
  CHECK(squared_norm(difference(constant, sent)) == 0.9 * 4000.0);
}

TEST_CASE("topk decoder refuses counts, indices and values that no encoder writes") {
  const auto codec = topk("0.5");
  using Catch::Matchers::Contains;
  const auto refuse = [&](const char* bytes, const char* reason) {
    CHECK_THROWS_WITH(decode(*codec, from_hex(bytes), 4), Contains(reason));
  };
  refuse("0100", "before the count");
  refuse("05000000", "a count of 5 for 4 elements");
  refuse("0100000000000000", "bytes are expected");
  refuse("010000000400000000000040", "byte 4 begins an index beyond");
  refuse("0200000001000000000000400100000000000040", "byte 12 begins an index out of order");
  refuse("01000000010000000000c07f", "byte 4 begins an entry with no finite value");
  CHECK(decode(*codec, from_hex("00000000"), 4) == std::vector<float>(4, 0.0f));
}
