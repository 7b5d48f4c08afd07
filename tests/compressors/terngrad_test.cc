#include <catch2/catch.hpp>
#include <cmath>

#include "codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

TEST_CASE("terngrad worked example, both ways") {
  // g = .3 -1.2 .6 0 .9 -.3; mean = .05, population sigma = .70, 2.5 sigma = 1.75 > 1.2: no
  // clipping, s = 1.2. u = .5 .1 .4 .2 .9 .2 against p = .25 1 .5 0 .75 .25 gives
  // t = 0 -1 1 0 0 -1, codes 1 0 2 1 | 1 0: bytes 1 + 0*4 + 2*16 + 1*64 = 0x61 and 0x01.
  const auto codec = make_codec("terngrad");
  const std::vector<float> g = {0.3f, -1.2f, 0.6f, 0.0f, 0.9f, -0.3f};
  const auto payload = encode(*codec, g, {.injected = {.5f, .1f, .4f, .2f, .9f, .2f}});
  CHECK(hex(payload) == "9a99993f6101");
  CHECK(decode(*codec, payload, 6) == std::vector<float>{0, -1.2f, 1.2f, 0, 0, -1.2f});
  std::vector<float> sum(6, 1.0f);
  decode_add(*codec, payload, 0.5f, sum);
  CHECK(sum[1] == 1.0f + 0.5f * 1.2f * -1.0f);
  CHECK(sum[0] == 1.0f);
}

TEST_CASE("terngrad clips at 2.5 population standard deviations about the mean") {
  // 16 values: fifteen of +1 and one of -15. mean = 0, sigma^2 = (15 + 225) / 16 = 15.
  std::vector<float> g(16, 1.0f);
  g[7] = -15.0f;
  const std::vector<std::int64_t> shape = {16};
  const float bound = static_cast<float>(2.5 * std::sqrt(15.0));
  CHECK(make_codec("terngrad")->local_scale(view_of(g, shape)) == bound);
  CHECK(make_codec("terngrad", {{"clip", "0"}})->local_scale(view_of(g, shape)) == 15.0f);
  // The n - 1 form would give 2.5 * 4 = 10.
  CHECK(bound < 9.7f);
  // A constant tensor has sigma = 0 exactly, even far from 0: it is not clipped away.
  const std::vector<float> constant(1000, 0.1f);
  const std::vector<std::int64_t> length = {1000};
  CHECK(make_codec("terngrad")->local_scale(view_of(constant, length)) == 0.1f);
}

TEST_CASE("terngrad takes a shared scale and writes it") {
  const auto codec = make_codec("terngrad");
  const std::vector<float> g = {4.0f, -4.0f, 1.0f, 0.0f, -8.0f};
  const auto payload = encode(*codec, g, {.shared_scale = 2.0f});
  CHECK(payload.size() == 4 + 2);
  CHECK(hex(payload).substr(0, 8) == "00000040");
  const auto values = decode(*codec, payload, 5);  // |g| >= s is sent with certainty
  CHECK(values[0] == 2.0f);
  CHECK(values[1] == -2.0f);
  CHECK(values[3] == 0.0f);
  CHECK(values[4] == -2.0f);
  CHECK(decode(*codec, encode(*codec, g, {.shared_scale = 0.0f}), 5) ==
        std::vector<float>(5, 0.0f));
  CHECK_THROWS_AS(encode(*codec, g, {.shared_scale = INFINITY}), CodecError);
  CHECK_THROWS_AS(encode(*codec, g, {.shared_scale = NAN}), CodecError);
}

TEST_CASE("terngrad keeps the largest value with certainty, at any scale") {
  const auto codec = make_codec("terngrad", {{"clip", "0"}});
  const float nearly_one = std::nextafterf(1.0f, 0.0f);  // the largest u
  for (const float s : {1.0f, 1.5f, 1.9999999f, 3e38f, 1e-30f, 1e-38f, 1e-42f, 1.4e-45f}) {
    const auto payload = encode(*codec, {s, -s}, {.injected = {nearly_one, nearly_one}});
    CHECK(decode(*codec, payload, 2) == std::vector<float>{s, -s});
  }
}

namespace {

// Mean of `draws` decodings against g, in exact standard errors sqrt(|g| (s - |g|) / draws).
double worst_standard_errors(const std::vector<float>& g, int draws, bool broken) {
  const auto codec = make_codec("terngrad", {{"clip", "0"}});
  std::vector<double> sum(g.size(), 0.0);
  for (int r = 0; r < draws; ++r) {
    CallOptions options{.stream = {.seed = 5, .step = static_cast<std::uint32_t>(r)}};
    if (broken) options.injected.assign(g.size(), 0.5f);
    const auto values = decode(*codec, encode(*codec, g, options), g.size());
    for (std::size_t e = 0; e < g.size(); ++e) sum[e] += values[e];
  }
  double worst = 0;
  const double s = 1.0;  // the largest |g| below
  for (std::size_t e = 0; e < g.size(); ++e) {
    const double magnitude = std::abs(double{g[e]});
    const double error = std::abs(sum[e] / draws - g[e]);
    const double standard_error = std::sqrt(magnitude * (s - magnitude) / draws);
    if (standard_error == 0)
      REQUIRE(error == 0);
    else
      worst = std::max(worst, error / standard_error);
  }
  return worst;
}

}  // namespace

TEST_CASE("terngrad is unbiased without clipping") {
  const std::vector<float> g = {1.0f, -0.75f, 0.5f,  -0.25f, 0.125f, -0.01f, 0.99f, 0.0f,
                                0.3f, -0.6f,  0.02f, -0.9f,  0.7f,   -0.45f, 0.05f, 0.001f};
  CHECK(worst_standard_errors(g, 20000, false) < 5.0);
  CHECK(worst_standard_errors(g, 20000, true) > 5.0);  // a fixed threshold is biased
}

TEST_CASE("terngrad error messages name the codec, the tensor and the element") {
  std::vector<float> g(5000, 1.0f);
  g[4321] = NAN;
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(encode(*make_codec("terngrad"), g),
                    Contains("terngrad") && Contains("layer") && Contains("element 4321 is NaN"));
  CHECK_THROWS_WITH(encode(*make_codec("terngrad"), g, {.shared_scale = 1.0f}),
                    Contains("element 4321 is NaN"));
}

TEST_CASE("terngrad decoder names the bad byte") {
  const auto codec = make_codec("terngrad");
  using Catch::Matchers::Contains;
  std::vector<std::byte> payload(4 + 20, std::byte{0x55});
  payload[3] = std::byte{0x3f};
  CHECK(decode(*codec, payload, 80) == std::vector<float>(80, 0.0f));
  payload[4 + 11] = std::byte{0x75};
  CHECK_THROWS_WITH(decode(*codec, payload, 80), Contains("byte 15 holds code 3"));
  payload[4 + 11] = std::byte{0x55};
  payload[4 + 19] = std::byte{0xD5};  // the last code of 80, but unused with n = 79
  CHECK_THROWS_WITH(decode(*codec, payload, 80), Contains("byte 23 holds code 3"));
  CHECK(decode(*codec, payload, 79) == std::vector<float>(79, 0.0f));
}
