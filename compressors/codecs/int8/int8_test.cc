#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>

#include "base/thread_team.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

TEST_CASE("int8 worked example, both ways") {
  // [-1, -.25, .2, 2]: s = 3 / 255 = .01176471; .75 / s = 63.75 -> 64, 1.2 / s = 102, 255.
  const auto codec = make_codec("int8");
  const auto payload = encode(*codec, {-1.0f, -0.25f, 0.2f, 2.0f});
  CHECK(hex(payload) ==
        "04000000000080bf00000040"
        "004066ff");
  const auto y = decode(*codec, payload, 4);
  CHECK(y[0] == -1.0f);
  CHECK(y[1] == Approx(-0.247059).margin(1e-6));
  CHECK(y[1] + 0.25f == Approx(0.00294).margin(1e-5));  // <= s / 2
  CHECK(y[2] == Approx(0.2).margin(1e-6));
  CHECK(y[3] == 2.0f);
  const auto fields = codec->explain(payload, 4, {});
  REQUIRE(fields.size() == 4);
  CHECK(fields[3].value == "0, 64, 102, 255");
}

TEST_CASE("int8 errs by at most half a step, one when drawn, and is idempotent") {
  const auto nearest = make_codec("int8"), drawn = make_codec("int8", {{"rounding", "stochastic"}});
  for (const std::uint32_t seed : {0u, 1u, 2u, 3u, 4u}) {
    const auto x = random_values(3001, seed);
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    const float s = (*high - *low) / 255;
    const auto payload = encode(*nearest, x);
    const auto near = decode(*nearest, payload, 3001);
    const auto random = decode(*drawn, encode(*drawn, x), 3001);
    for (std::size_t e = 0; e < 3001; ++e) {
      REQUIRE(std::abs(near[e] - x[e]) <= s / 2 * 1.001f);
      REQUIRE(std::abs(random[e] - x[e]) <= s * 1.001f);
    }
    CHECK(encode(*nearest, near) == payload);
  }
}

TEST_CASE("int8 drawn is unbiased") {
  // min 0, max 255: s = 1. 10^4 draws, within 4 standard errors sqrt(f (1 - f) / draws).
  const std::vector<float> x = {0.0f, 255.0f, 0.1f, 10.5f, 100.25f, 200.75f, 254.9f, 77.0f};
  const auto codec = make_codec("int8", {{"rounding", "stochastic"}});
  std::vector<double> sum(8);
  for (std::uint32_t r = 0; r < 10000; ++r) {
    const auto y = decode(*codec, encode(*codec, x, {.stream = {.seed = 8, .step = r}}), 8);
    for (std::size_t e = 0; e < 8; ++e) sum[e] += y[e];
  }
  for (std::size_t e = 0; e < 8; ++e) {
    const double f = x[e] - std::floor(x[e]);
    CHECK(std::abs(sum[e] / 10000 - x[e]) <= 4 * std::sqrt(f * (1 - f) / 10000) + 1e-9);
  }
  // Negative control: nearest moves 0.1 to 0.
  const auto nearest = make_codec("int8");
  CHECK(decode(*nearest, encode(*nearest, x), 8)[2] == 0.0f);
}

TEST_CASE("int8 reproduces the ends exactly, whatever their size") {
  const auto codec = make_codec("int8");
  for (const float v : {FLT_TRUE_MIN, 1e-41f, FLT_MIN, 0.3f, FLT_MAX}) {
    const std::vector<float> x = {v, -v, v / 3};
    const auto y = decode(*codec, encode(*codec, x), 3);
    CHECK(y[0] == v);
    CHECK(y[1] == -v);
    CHECK(std::abs(y[2] / 2 - x[2] / 2) <= v / 255);
  }
}

TEST_CASE("int8 gives the same bytes on several threads") {
  const std::size_t n = 300001;
  const auto x = random_values(n);
  ThreadTeam team(2);
  for (const char* rounding : {"nearest", "stochastic"}) {
    const auto codec = make_codec("int8", {{"rounding", rounding}});
    std::vector<std::byte> shared(n + 12);
    EncodeJob job{.tensor = {.name = "t", .shape = {}, .data = x},
                  .draws = {.stream = CallOptions{}.stream},
                  .payload = shared,
                  .team = &team};
    codec->encode(job, {});
    CHECK(shared == encode(*codec, x));
  }
}

TEST_CASE("int8 decoder names the bad byte") {
  using Catch::Matchers::Contains;
  const auto codec = make_codec("int8");
  auto payload = encode(*codec, {1.0f, 2.0f});
  CHECK_THROWS_WITH(decode(*codec, payload, 3), Contains("byte 14"));
  payload[0] = std::byte{9};
  CHECK_THROWS_WITH(decode(*codec, payload, 2), Contains("byte 0 begins a count of 9"));
  payload[0] = std::byte{2};
  payload[11] = std::byte{0xBF};
  CHECK_THROWS_WITH(decode(*codec, payload, 2), Contains("byte 8 begins a maximum"));
}
