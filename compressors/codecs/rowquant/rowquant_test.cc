#include <catch2/catch.hpp>
#include <cmath>

#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

using Shape = std::vector<std::int64_t>;

std::vector<std::byte> encode_rows(const Codec& codec, const std::vector<float>& x,
                                   const Shape& shape, std::uint32_t step = 0) {
  const TensorSpec spec(x.size(), "a", shape);
  std::vector<std::byte> payload(codec.max_encoded_size(spec));
  std::vector<std::uint64_t> scratch(codec.scratch_size(spec) / 8 + 1);
  EncodeJob job{.tensor = {.name = "a", .shape = shape, .data = x},
                .draws = {.stream = {.seed = 1, .step = step}},
                .payload = payload};
  payload.resize(codec.encode(job, std::as_writable_bytes(std::span(scratch))));
  return payload;
}

std::vector<float> decode_rows(const Codec& codec, const std::vector<std::byte>& payload,
                               std::size_t n, const Shape& shape) {
  std::vector<float> values(n);
  std::vector<std::uint64_t> scratch(codec.scratch_size({n, "a", shape}) / 8 + 1);
  codec.decode({.payload = payload, .values = values, .name = "a", .shape = shape},
               std::as_writable_bytes(std::span(scratch)));
  return values;
}

}  // namespace

TEST_CASE("rowquant worked example of the released grid, both ways") {
  // One channel, four tokens: scale .5; y = 1.5-, -.5+, .25, -2 -> 1, 0, 0, -2 -> + 2: 3 2 2 0,
  // 11 10 10 00 = 0xe8, scale f16 0x3800. The 1e-6 decides both near-ties.
  const auto codec = make_codec("rowquant", {{"bits", "2"}, {"grid", "released"}});
  const Shape column = {4, 1};
  const auto payload = encode_rows(*codec, {0.375f, -0.125f, 0.0625f, -0.5f}, column);
  CHECK(hex(payload) == "e80038");
  CHECK(decode_rows(*codec, payload, 4, column) == std::vector<float>{0.25f, 0, 0, -0.5f});
  const auto fields = codec->explain(payload, {4, "a", column}, {});
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].value == "3, 2, 2, 0");
  CHECK(fields[1].bytes == 2);
}

TEST_CASE("rowquant sizes: 822400 bytes forward at 4 bits, 1641600 backward at 8") {
  const Shape shape = {1, 1024, 1600};
  const TensorSpec spec(1024 * 1600, "a", shape);
  CHECK(make_codec("rowquant", {{"grid", "released"}})->max_encoded_size(spec) == 822400);
  CHECK(make_codec("rowquant", {{"grid", "released"}, {"bits", "8"}})->max_encoded_size(spec) ==
        1641600);
  CHECK(make_codec("rowquant")->max_encoded_size(spec) == 819200 + 2 * 1024);
}

TEST_CASE("rowquant released errs by scale / 2^b, except at the positive clip") {
  const Shape shape = {40, 33};
  const auto x = random_values(40 * 33);
  for (int bits = 1; bits <= 8; ++bits) {
    const auto codec =
        make_codec("rowquant", {{"bits", std::to_string(bits)}, {"grid", "released"}});
    const auto y = decode_rows(*codec, encode_rows(*codec, x, shape), x.size(), shape);
    for (std::size_t c = 0; c < 33; ++c) {
      float scale = 0;
      for (std::size_t r = 0; r < 40; ++r) scale = std::max(scale, std::abs(x[33 * r + c]));
      const float step = scale / static_cast<float>(1 << (bits - 1));
      for (std::size_t r = 0; r < 40; ++r) {
        const float v = x[33 * r + c], slack = scale * 0x1p-9f + 2e-6f;
        const bool clipped = v > scale - step / 2 - slack;
        REQUIRE(std::abs(y[33 * r + c] - v) <= (clipped ? step : step / 2) + slack);
      }
    }
  }
}

TEST_CASE("rowquant symmetric errs by half a step, one when drawn, and keeps rows apart") {
  const Shape shape = {17, 2, 29};
  auto x = random_values(17 * 58);
  for (std::size_t e = 0; e < 29; ++e) x[e] *= 1000.0f;  // other rows do not notice
  for (int bits = 1; bits <= 8; ++bits) {
    const std::string b = std::to_string(bits);
    const auto nearest = make_codec("rowquant", {{"bits", b}});
    const auto drawn = make_codec("rowquant", {{"bits", b}, {"rounding", "stochastic"}});
    const auto y = decode_rows(*nearest, encode_rows(*nearest, x, shape), x.size(), shape);
    const auto z = decode_rows(*drawn, encode_rows(*drawn, x, shape), x.size(), shape);
    for (std::size_t row = 0; row < 34; ++row) {
      float scale = 0;
      for (std::size_t c = 0; c < 29; ++c) scale = std::max(scale, std::abs(x[29 * row + c]));
      const float step = 2 * scale * 1.001f / static_cast<float>((1 << bits) - 1);
      for (std::size_t c = 0; c < 29; ++c) {
        REQUIRE(std::abs(y[29 * row + c] - x[29 * row + c]) <= step / 2 + 1e-6f);
        REQUIRE(std::abs(z[29 * row + c] - x[29 * row + c]) <= step + 1e-6f);
      }
    }
  }
}

TEST_CASE("rowquant symmetric drawn is unbiased, variance at most (2 s / (2^b - 1))^2 / 4") {
  const std::vector<float> x = {1.5f, -0.2f, 0.0f, 0.4f, -1.3f, 1.0f};  // s = 1.5, b = 2: step 1
  const auto codec = make_codec("rowquant", {{"bits", "2"}, {"rounding", "stochastic"}});
  constexpr int kRounds = 20000;
  std::vector<double> sum(6), squares(6);
  for (std::uint32_t r = 0; r < kRounds; ++r) {
    const auto y = decode_rows(*codec, encode_rows(*codec, x, {1, 6}, r), 6, {1, 6});
    for (std::size_t e = 0; e < 6; ++e) {
      sum[e] += y[e];
      squares[e] += (double{y[e]} - x[e]) * (double{y[e]} - x[e]);
    }
  }
  for (std::size_t e = 0; e < 6; ++e) {
    const double a = x[e] + 1.5, f = a - std::floor(a), variance = f * (1 - f);
    CHECK(std::abs(sum[e] / kRounds - x[e]) <= 5 * std::sqrt(variance / kRounds) + 1e-6);
    CHECK(squares[e] / kRounds <= 0.25 + 0.01);
    CHECK(squares[e] / kRounds == Approx(variance).margin(0.01));
  }
  // Negative control: the nearest rounding of .4 is .5, always.
  const auto nearest = make_codec("rowquant", {{"bits", "2"}});
  CHECK(decode_rows(*nearest, encode_rows(*nearest, x, {1, 6}), 6, {1, 6})[3] == Approx(0.5f));
}

TEST_CASE("rowquant shrinks a revisited difference (AQ-SGD's buffer), and keeps zero at zero") {
  const Shape shape = {8, 64};
  const auto a = random_values(512);
  const auto codec = make_codec("rowquant", {{"bits", "4"}, {"rounding", "stochastic"}});
  std::vector<float> m(512), difference(512);
  double before = 1e9;
  for (std::uint32_t visit = 0; visit < 6; ++visit) {
    double norm = 0;
    for (std::size_t e = 0; e < 512; ++e) {
      difference[e] = a[e] - m[e];
      norm += double{difference[e]} * difference[e];
    }
    if (visit > 0) CHECK(norm < 0.5 * before);  // c_Q < sqrt(1/2)
    before = norm;
    const auto sent =
        decode_rows(*codec, encode_rows(*codec, difference, shape, visit), 512, shape);
    for (std::size_t e = 0; e < 512; ++e) m[e] += sent[e];
  }
  for (const char* grid : {"symmetric", "released"}) {
    const auto any = make_codec("rowquant", {{"grid", grid}});
    const std::vector<float> zeros(512);
    CHECK(decode_rows(*any, encode_rows(*any, zeros, shape), 512, shape) == zeros);
  }
}

TEST_CASE("rowquant refuses what an f16 scale cannot hold, and names a bad byte") {
  using Catch::Matchers::Contains;
  const auto codec = make_codec("rowquant", {{"bits", "8"}});
  CHECK_THROWS_WITH(encode_rows(*codec, {1.0f, 2.0f, 3.0f, 70000.0f}, {2, 2}), Contains("row 1"));
  auto payload = encode_rows(*codec, {1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  payload[7] = std::byte{0x7C};
  CHECK_THROWS_WITH(decode_rows(*codec, payload, 4, {2, 2}), Contains("byte 6 begins a scale"));
  CHECK_THROWS_WITH(make_codec("rowquant", {{"grid", "released"}, {"rounding", "stochastic"}}),
                    Contains("nearest"));
}
