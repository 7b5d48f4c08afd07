#include <algorithm>
#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>

#include "base/thread_team.h"
#include "compressors/codecs/ternary/dead_zone.h"
#include "compressors/codecs/ternary/threshold_search.h"
#include "tests/compressors/codec_fixture.h"
#include "tests/compressors/each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

double error_of(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (std::size_t e = 0; e < x.size(); ++e) sum += std::pow(double{x[e]} - double{y[e]}, 2);
  return sum;
}

TernaryThreshold search(const std::vector<float>& x, ThreadTeam* team = nullptr) {
  std::vector<std::uint64_t> scratch(threshold_search_scratch(x.size()) / 8 + 1);
  return search_threshold(
      x, std::as_writable_bytes(std::span(scratch)).first(threshold_search_scratch(x.size())),
      team);
}

// By a full sort and the same exact sums.
TernaryThreshold search_by_sorting(const std::vector<float>& x) {
  std::vector<std::uint32_t> keys;
  for (const float value : x) keys.push_back(magnitude_bits(value));
  std::sort(keys.rbegin(), keys.rend());
  DescendingSum kept;
  TernaryThreshold best;
  for (std::size_t e = 0; e < keys.size() && keys[e] != 0; ++e) {
    kept.add(keys[e] >> 23, 1, mantissa_of(keys[e]));
    if (e + 1 == keys.size() || keys[e + 1] != keys[e]) best.offer(keys[e], kept);
  }
  return best;
}

std::size_t reached(const std::vector<float>& x, std::uint32_t lowest) {
  return static_cast<std::size_t>(std::count_if(
      x.begin(), x.end(), [&](float value) { return magnitude_bits(value) >= lowest; }));
}

}  // namespace

TEST_CASE("threshold-ternary worked example, both ways, in 2 bits and base 3") {
  // c^2 / k = .81, 1.445, 1.47, 1.21, 1.0125: k = 3, E = 2.1 / 3; codes 1 0 1 2 | 0.
  const std::vector<float> g = {.9f, -.1f, .4f, -.8f, .05f};
  const auto bits = make_codec("ternary"), trits = make_codec("ternary", {{"form", "base3"}});
  const auto payload = encode(*bits, g);
  CHECK(hex(payload) ==
        "05000000"
        "3333333f"
        "9100");  // fl(.7) = 0x3f333333
  CHECK(hex(encode(*trits, g)) ==
        "05000000"
        "3333333f"
        "40");
  const float E = .7f;
  const std::vector<float> q = {E, 0, E, -E, 0};
  CHECK(decode(*bits, payload, 5) == q);
  CHECK(decode(*trits, encode(*trits, g), 5) == q);
  CHECK(error_of(g, q) == Approx(.1525));
  const auto fields = bits->explain(payload, 5, {});
  REQUIRE(fields.size() == 3);
  CHECK(fields[2].value == "1, 0, 1, 2, 0");
  CHECK(trits->explain(encode(*trits, g), 5, {})[2].value == "1, 0, 1, 2, 0");
}

TEST_CASE("threshold-ternary errs less than any other support and level") {
  // Every support of n <= 10 with its best level, mean |g| over it: error ||g||^2 - c_S^2 / |S|.
  const auto codec = make_codec("ternary");
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const std::size_t n = 1 + seed % 10;
    auto g = random_values(n, seed);
    if (seed % 3 == 0)  // with ties
      for (float& value : g) value = std::round(value * 16) / 16;
    double norm = 0, best = 0;
    for (const float value : g) norm += double{value} * value;
    for (std::uint32_t support = 1; support < 1u << n; ++support) {
      double c = 0;
      for (std::size_t e = 0; e < n; ++e)
        if (support >> e & 1) c += std::abs(double{g[e]});
      best = std::max(best, c * c / __builtin_popcount(support));
    }
    const double error = error_of(g, decode(*codec, encode(*codec, g), n));
    CHECK(error == Approx(norm - best).epsilon(1e-6).margin(1e-12));
    // and less than the expected error of the stochastic code, sum |g| (s - |g|)
    double stochastic = 0, s = 0;
    for (const float value : g) s = std::max(s, std::abs(double{value}));
    for (const float value : g)
      stochastic += std::abs(double{value}) * (s - std::abs(double{value}));
    CHECK(error <= stochastic + 1e-9);
  }
}

TEST_CASE("threshold-ternary: Q(0) = 0 and Q(c g) = c Q(g)") {
  const auto codec = make_codec("ternary");
  CHECK(decode(*codec, encode(*codec, {0, 0, -0.0f}), 3) == std::vector<float>{0, 0, 0});
  const auto g = random_values(200);
  const auto q = decode(*codec, encode(*codec, g), 200);
  for (const float c : {2.0f, 0x1p-20f, 0x1p30f}) {
    auto scaled = g;
    for (float& value : scaled) value *= c;
    const auto scaled_q = decode(*codec, encode(*codec, scaled), 200);
    for (std::size_t e = 0; e < 200; ++e) REQUIRE(scaled_q[e] == c * q[e]);
  }
}

TEST_CASE("the search by bins finds what sorting finds") {
  ThreadTeam team(2);
  const auto check = [&](const std::vector<float>& x) {
    const auto expected = search_by_sorting(x), found = search(x);
    REQUIRE(found.gain == expected.gain);
    REQUIRE(found.level == expected.level);
    REQUIRE(found.count == expected.count);
    REQUIRE(reached(x, found.lowest) == reached(x, expected.lowest));
    const auto shared = search(x, &team);
    REQUIRE(shared.lowest == found.lowest);
    REQUIRE(shared.level == found.level);
  };
  for (const std::size_t n : {1u, 100u, 8191u, 8192u, 300000u}) {
    check(random_values(n));
    check(std::vector<float>(n, -0.3f));  // one magnitude
    check(std::vector<float>(n, 0.0f));
    auto few = random_values(n, 1);  // few magnitudes, many zeros
    for (float& value : few) value = std::round(value * 40) / 40;
    check(few);
    auto tiny = random_values(n, 2);  // subnormals
    for (float& value : tiny) value *= 1e-38f;
    check(tiny);
    auto mixed = random_values(n, 3);  // many octaves
    for (std::size_t e = 0; e < n; ++e)
      mixed[e] = std::ldexp(mixed[e], static_cast<int>(e % 200) - 130);
    check(mixed);
  }
  std::vector<float> flat(
      20000);  // c_k^2 / k = 1 for all k but for rounding: every bin may be best
  for (std::size_t k = 0; k < flat.size(); ++k)
    flat[k] = static_cast<float>(std::sqrt(k + 1.0) - std::sqrt(static_cast<double>(k)));
  check(flat);
  auto shifted = flat;  // two distant near-optima
  for (std::size_t k = 0; k < 50; ++k) shifted[k] *= 1.0001f;
  check(shifted);
}

TEST_CASE("threshold-ternary gives the same bytes and values on every instruction set and team") {
  ThreadTeam team(3);
  for (const char* form : {"2bit", "base3"}) {
    const auto codec = make_codec("ternary", {{"form", form}});
    for (const std::size_t n : {0u, 3u, 64u, 2561u, 200003u}) {
      const auto x = random_values(n);
      const float E = search_by_sorting(x).level;
      const std::uint32_t lowest = search_by_sorting(x).lowest;
      on_each_instruction_set([&] {
        const auto payload = encode(*codec, x);
        std::vector<std::byte> again(payload.size()), scratch(codec->scratch_size(n));
        EncodeJob job{
            .tensor = {.name = "t", .shape = {}, .data = x}, .payload = again, .team = &team};
        codec->encode(job, scratch);
        REQUIRE(again == payload);
        std::vector<float> values(n);
        codec->decode({.payload = payload, .side = {}, .values = values, .team = &team}, {});
        for (std::size_t e = 0; e < n; ++e)
          REQUIRE(values[e] == (magnitude_bits(x[e]) < lowest ? 0.0f : x[e] < 0 ? -E : E));
        REQUIRE(decode(*codec, payload, n) == values);
      });
    }
  }
}

TEST_CASE("more bits: uniform levels with a dead zone") {
  // max 1.75, 3 bits: 3 levels of 1.75 / 3 = .58333. Times 3 / 1.75: 3, -.171, .857, .514, -1.71.
  const std::vector<float> g = {1.75f, -.1f, .5f, .3f, -1};
  const auto codec = make_codec("ternary", {{"bits", "3"}});
  const auto payload = encode(*codec, g);
  const float D = 1.75f / 3;
  CHECK(decode(*codec, payload, 5) == std::vector<float>{3 * D, 0, D, D, -2 * D});
  CHECK(codec->explain(payload, 5, {})[2].value == "5, 0, 1, 1, 4");  // 2 m - 1 and 2 m
  const auto wide = make_codec("ternary", {{"bits", "3"}, {"dead_zone", "0.9"}});
  CHECK(decode(*wide, encode(*wide, g), 5) == std::vector<float>{3 * D, 0, 0, 0, -2 * D});
  CHECK_THROWS_WITH(make_codec("ternary", {{"bits", "3"}, {"form", "base3"}}), Contains("base 3"));
  for (const char* bits : {"3", "4", "5", "8"}) {
    const auto levels = make_codec("ternary", {{"bits", bits}});
    const int top = (1 << (bits[0] - '1')) - 1;
    on_each_instruction_set([&] {
      for (const float scale : {1.0f, 1e-30f, 1e35f}) {
        auto x = random_values(3001, 4);
        float largest = 0;
        for (float& value : x) largest = std::max(largest, std::abs(value *= scale));
        const auto y = decode(*levels, encode(*levels, x), 3001);
        const float step = largest / static_cast<float>(top);
        const auto grid = dead_zone_grid(largest, top, 0.5f);
        for (std::size_t e = 0; e < 3001; ++e) {
          REQUIRE(std::abs(y[e] - x[e]) <= 0.5001f * step);
          REQUIRE(y[e] == dead_zone_value(dead_zone_code(x[e], grid), grid.step));
        }
      }
    });
    for (const float value : {FLT_TRUE_MIN, FLT_MIN, FLT_MAX}) {
      const auto y = decode(*levels, encode(*levels, {value, -value, 0}), 3);
      CHECK(std::isfinite(y[0]));
      CHECK(y[1] == -y[0]);
      CHECK((value == FLT_TRUE_MIN || y[0] == Approx(value).epsilon(1e-3)));
    }
  }
}

TEST_CASE("the ternary decoders name the bad byte") {
  const auto bits = make_codec("ternary"), trits = make_codec("ternary", {{"form", "base3"}});
  auto payload = encode(*bits, random_values(100));
  payload[8 + 7] = std::byte{0x30};
  CHECK_THROWS_WITH(decode(*bits, payload, 100), Contains("byte 15 holds a code above 2"));
  payload = encode(*trits, random_values(100));
  payload[8 + 3] = std::byte{243};
  CHECK_THROWS_WITH(decode(*trits, payload, 100), Contains("byte 11 is above 242"));
  payload[0] = std::byte{99};
  CHECK_THROWS_WITH(decode(*trits, payload, 100), Contains("byte 0 begins a count of 99 for 100"));
  payload[0] = std::byte{100};
  payload[7] = std::byte{0xFF};
  CHECK_THROWS_WITH(decode(*trits, payload, 100), Contains("byte 4 begins a level"));
  const auto levels = make_codec("ternary", {{"bits", "4"}});
  payload = encode(*levels, random_values(10));
  payload[9] = std::byte{0x0F};
  CHECK_THROWS_WITH(decode(*levels, payload, 10), Contains("byte 9 holds a code above 14"));
}
