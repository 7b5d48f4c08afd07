#include <catch2/catch.hpp>
#include <cmath>

#include "tests/compressors/codec_fixture.h"

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
  CHECK_THROWS_WITH(decode(*codec, payload, 80), Contains("byte 15 holds a code above 2"));
  payload[4 + 11] = std::byte{0x55};
  payload[4 + 19] = std::byte{0xD5};  // the last code of 80, but unused with n = 79
  CHECK_THROWS_WITH(decode(*codec, payload, 80), Contains("byte 23 holds a code above 2"));
  CHECK(decode(*codec, payload, 79) == std::vector<float>(79, 0.0f));
}

TEST_CASE("terngrad in base 3: the worked example, both ways") {
  // Codes 1 0 2 1 1 | 0: 1 + 2 * 9 + 27 + 81 = 127 = 0x7f, then 0.
  const auto codec = make_codec("terngrad", {{"code", "base3"}});
  const std::vector<float> g = {0.3f, -1.2f, 0.6f, 0.0f, 0.9f, -0.3f};
  const auto payload = encode(*codec, g, {.injected = {.5f, .1f, .4f, .2f, .9f, .2f}});
  CHECK(hex(payload) == "9a99993f7f00");
  CHECK(decode(*codec, payload, 6) == std::vector<float>{0, -1.2f, 1.2f, 0, 0, -1.2f});
  // 1.6 bits an element; both codes carry the same terms.
  const auto values = random_values(12345);
  const auto packed = encode(*codec, values), plain = encode(*make_codec("terngrad"), values);
  CHECK(packed.size() == 4 + 12345 / 5);
  CHECK(plain.size() == 4 + 12345 / 4 + 1);
  CHECK(decode(*codec, packed, 12345) == decode(*make_codec("terngrad"), plain, 12345));
  auto broken = packed;
  broken[2000] = std::byte{243};
  CHECK_THROWS_WITH(decode(*codec, broken, 12345),
                    Catch::Matchers::Contains("byte 2000 is above 242"));
}

TEST_CASE("terngrad with the released code's scale: c sigma whether reached or not") {
  // g of the worked example: mean .05, mean square 2.79 / 6 = .465, sigma^2 = .4625; 2.5 sigma =
  // 1.7002 > 1.2, the largest: the paper's rule takes 1.2, the released code 1.7002.
  const std::vector<float> g = {0.3f, -1.2f, 0.6f, 0.0f, 0.9f, -0.3f};
  const std::vector<std::int64_t> shape = {6};
  const auto released = make_codec("terngrad", {{"scale", "released"}});
  CHECK(released->local_scale(view_of(g, shape)) == Approx(2.5 * std::sqrt(0.4625)));
  CHECK(make_codec("terngrad")->local_scale(view_of(g, shape)) == 1.2f);
  const std::vector<float> constant(6, 0.5f);  // sigma = 0 says nothing
  CHECK(released->local_scale(view_of(constant, shape)) == 0.5f);
}

TEST_CASE("terngrad codes in the order of the released TensorFlow packer") {
  // It pads with 0, 1, ... to the next multiple of 4 and packs quarters side by side: byte i holds
  // codes i, i + m, i + 2 m, i + 3 m of 4 m. Ours: 1 0 2 1 1 0, padded 0 1, m = 2:
  // 1 + 4 * 2 + 16 * 1 + 64 * 0 = 25, 0 + 4 * 1 + 16 * 0 + 64 * 1 = 68.
  const auto payload = from_hex("9a99993f6101");
  std::vector<unsigned> codes;
  for (std::size_t i = 0; i < 6; ++i)
    codes.push_back(std::to_integer<unsigned>(payload[4 + i / 4]) >> (2 * (i % 4)) & 3u);
  codes.insert(codes.end(), {0u, 1u});
  const auto byte = [&](std::size_t i) {
    return codes[i] + 4 * codes[i + 2] + 16 * codes[i + 4] + 64 * codes[i + 6];
  };
  CHECK(byte(0) == 25);
  CHECK(byte(1) == 68);
}

TEST_CASE("terngrad's error has the exact variance s |g|_1 - |g|_2^2") {
  // The worked example: 1.2 * 3.3 - 2.79 = 1.17. An element's squared error is (s - a)^2 with
  // probability p = a / s and a^2 otherwise; its variance gives the standard error of the mean.
  const std::vector<float> g = {0.3f, -1.2f, 0.6f, 0.0f, 0.9f, -0.3f};
  const auto codec = make_codec("terngrad", {{"clip", "0"}});
  constexpr int kDraws = 20000;
  double total = 0;
  for (int r = 0; r < kDraws; ++r) {
    const auto values = decode(
        *codec, encode(*codec, g, {.stream = {.seed = 11, .step = static_cast<std::uint32_t>(r)}}),
        6);
    for (std::size_t e = 0; e < 6; ++e) total += std::pow(double{values[e]} - g[e], 2);
  }
  double variance = 0, variance_of_squares = 0;
  for (const float value : g) {
    const double a = std::abs(double{value}), s = 1.2f, mean = a * (s - a);
    variance += mean;
    variance_of_squares += a / s * std::pow(s - a, 4) + (1 - a / s) * std::pow(a, 4) - mean * mean;
  }
  CHECK(variance == Approx(1.17));
  CHECK(std::abs(total / kDraws - variance) < 5 * std::sqrt(variance_of_squares / kDraws));
  CHECK(std::abs(total / kDraws - 1.1 * variance) > 5 * std::sqrt(variance_of_squares / kDraws));
}

TEST_CASE("terngrad clips 1.24 % of a normal tensor") {
  // P(|z| > 2.5) = 0.01242; over 100,000 values the standard error is 0.00035.
  const RandomStream stream{.seed = 4};
  std::vector<float> g(100000);
  for (std::size_t e = 0; e < g.size(); ++e) {
    const double u = 1.0 - uniform(stream, 2 * e), v = uniform(stream, 2 * e + 1);
    g[e] = static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v));
  }
  const std::vector<std::int64_t> shape = {100000};
  const float scale = make_codec("terngrad")->local_scale(view_of(g, shape));
  double clipped = 0;
  for (const float value : g) clipped += std::abs(value) > scale;
  CHECK(std::abs(clipped / 100000 - 0.01242) < 5 * 0.00035);
}

TEST_CASE("terngrad's AlexNet takes 29.18 MiB with its last layer in binary32") {
  // DGC's table 3. Convolutions of two groups as in the original; weights and biases by layer.
  const std::size_t ternary[] = {11 * 11 * 3 * 96,
                                 96,
                                 5 * 5 * 48 * 256,
                                 256,
                                 3 * 3 * 256 * 384,
                                 384,
                                 3 * 3 * 192 * 384,
                                 384,
                                 3 * 3 * 192 * 256,
                                 256,
                                 9216 * 4096,
                                 4096,
                                 4096 * 4096,
                                 4096,
                                 1000};
  const auto codec = make_codec("terngrad");
  std::size_t bytes = make_codec("none")->max_encoded_size(4096 * 1000);
  for (const std::size_t n : ternary) bytes += codec->max_encoded_size(n);
  CHECK(std::round(static_cast<double>(bytes) / 1048576 * 100) == 2918);
}

TEST_CASE("terngrad explains every byte") {
  const auto payload = from_hex("9a99993f6101");
  const auto fields = make_codec("terngrad")->explain(payload, 6, {});
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].value == "1.2");
  CHECK(fields[1].offset == 4);
  CHECK(fields[1].bytes == 2);
  CHECK(fields[1].value == "t = 0, -1, +1, 0, 0, -1");
}
