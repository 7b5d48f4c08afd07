#include <catch2/catch.hpp>
#include <cmath>

#include "compressors/arithmetic/half.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

TEST_CASE("fp16 worked example, both ways") {
  const auto codec = make_codec("fp16");
  const std::vector<float> values = {1.0f, -2.5f, 65504.0f};
  const auto payload = encode(*codec, values);
  CHECK(hex(payload) == "003c00c1ff7b");
  CHECK(decode(*codec, payload, 3) == values);
}

TEST_CASE("half_from_float rounds to nearest even") {
  CHECK(half_from_float(0x1p-24f) == 0x0001);  // the smallest subnormal
  CHECK(half_from_float(0x1p-25f) == 0x0000);  // half of it: tie to even
  CHECK(half_from_float(1.0001f * 0x1p-25f) == 0x0001);
  CHECK(half_from_float(3 * 0x1p-25f) == 0x0002);  // tie between 1 and 2
  CHECK(half_from_float(65519.996f) == 0x7BFF);
  CHECK(half_from_float(65520.0f) == 0x7C00);  // infinity
  CHECK(half_from_float(65520.0f, true) == 0x7BFF);
  CHECK(half_from_float(-1e30f, true) == 0xFBFF);
  CHECK(half_from_float(1.0f + 0x1p-11f) == 0x3C00);      // tie back to 1
  CHECK(half_from_float(1.0f + 3 * 0x1p-11f) == 0x3C02);  // tie up to even
  CHECK(half_from_float(0x1.ff8p-15f) == 0x03FF);         // the largest subnormal
  CHECK(half_from_float(0x1.ffcp-15f) == 0x0400);         // rounds up to the smallest normal
  CHECK(half_from_float(-0.0f) == 0x8000);
  CHECK(half_from_float(1e-45f) == 0x0000);
}

TEST_CASE("every half survives the way to float and back") {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    const float value = float_from_half(half);
    const bool nan = (h & 0x7C00u) == 0x7C00u && (h & 0x3FFu) != 0;
    REQUIRE(std::isnan(value) == nan);
    REQUIRE(half_from_float(value) == (nan ? (half | 0x200) : half));
  }
}

TEST_CASE("every half is the nearest to the floats around the midpoint above it") {
  for (std::uint16_t h = 0; h < 0x7BFF; ++h) {
    const double below = float_from_half(h);
    const double above = float_from_half(static_cast<std::uint16_t>(h + 1));
    const float middle = static_cast<float>((below + above) / 2);  // exact
    REQUIRE(half_from_float(middle) == (h % 2 == 0 ? h : h + 1));
    REQUIRE(half_from_float(std::nextafterf(middle, 0)) == h);
    REQUIRE(half_from_float(std::nextafterf(middle, 1e9f)) == h + 1);
  }
}

TEST_CASE("fp16 refuses NaN and infinity, or sends them where asked") {
  const std::vector<float> values = {1.0f, -INFINITY, NAN};
  CHECK_THROWS_AS(encode(*make_codec("fp16"), values), CodecError);
  const auto all = make_codec("fp16", {{"not_finite", "send"}});
  // 0x3c00, 0xfc00, 0x7e00, little-endian.
  CHECK(hex(encode(*all, values)) == "003c00fc007e");
  std::vector<std::uint32_t> terms(3);
  all->sum_terms()->to_terms({"w", {}, values}, {}, {}, terms);
  std::vector<std::byte> packed(6);
  all->sum_terms()->pack(terms, 1, packed);
  CHECK(hex(packed) == "003c00fc007e");
}

TEST_CASE("fp16 overflow is infinity or the largest half, as the option says") {
  const std::vector<float> values = {70000.0f, -1e20f, 3.0f};
  const auto infinity = make_codec("fp16");
  const auto saturate = make_codec("fp16", {{"overflow", "saturate"}});
  CHECK(decode(*infinity, encode(*infinity, values), 3) ==
        std::vector<float>{INFINITY, -INFINITY, 3.0f});
  CHECK(decode(*saturate, encode(*saturate, values), 3) ==
        std::vector<float>{65504.0f, -65504.0f, 3.0f});
}
