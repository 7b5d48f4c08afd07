#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>

#include "compressors/arithmetic/bfloat.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

TEST_CASE("bf16 keeps the upper half of a float, both ways") {
  // 1 = 0x3F800000; -2.5 = 0xC0200000; 3.140625 = 0x40490000; little-endian halves.
  const auto codec = make_codec("bf16");
  const std::vector<float> values = {1.0f, -2.5f, 3.140625f, -0.0f};
  const auto payload = encode(*codec, values);
  CHECK(hex(payload) == "803f20c049400080");
  const auto back = decode(*codec, payload, 4);
  CHECK(back == values);
  CHECK(std::signbit(back[3]));
}

TEST_CASE("bfloat_from_float rounds to nearest even") {
  CHECK(bfloat_from_float(1.0f + 0x1p-8f) == 0x3F80);      // tie back to 1
  CHECK(bfloat_from_float(1.0f + 3 * 0x1p-8f) == 0x3F82);  // tie up to even
  CHECK(bfloat_from_float(std::nextafterf(1.0f + 0x1p-8f, 2)) == 0x3F81);
  CHECK(bfloat_from_float(float_of(0x00008000u)) == 0x0000);  // subnormal tie to even
  CHECK(bfloat_from_float(float_of(0x00018000u)) == 0x0002);
  CHECK(bfloat_from_float(float_of(0x00008001u)) == 0x0001);
  CHECK(bfloat_from_float(float_of(kBfloatOverflowBits)) == 0x7F80);  // infinity
  CHECK(bfloat_from_float(float_of(kBfloatOverflowBits - 1)) == 0x7F7F);
  CHECK(bfloat_from_float(-FLT_MAX, true) == 0xFF7F);
  CHECK(bfloat_from_float(float_of(0x7F800001u)) == 0x7FC0);  // a NaN stays one
}

TEST_CASE("every bfloat survives the way to float and back") {
  for (std::uint32_t b = 0; b < 0x10000; ++b) {
    const auto bfloat = static_cast<std::uint16_t>(b);
    const float value = float_from_bfloat(bfloat);
    REQUIRE(bfloat_from_float(value) == (std::isnan(value) ? (bfloat | 0x40) : bfloat));
  }
}

TEST_CASE("bf16 overflow is infinity or the largest bfloat, as the option says") {
  const std::vector<float> values = {FLT_MAX, -FLT_MAX, 3.0f};
  const float largest = float_from_bfloat(kBfloatLargest);
  const auto saturate = make_codec("bf16", {{"overflow", "saturate"}});
  CHECK(decode(*make_codec("bf16"), encode(*make_codec("bf16"), values), 3) ==
        std::vector<float>{INFINITY, -INFINITY, 3.0f});
  CHECK(decode(*saturate, encode(*saturate, values), 3) ==
        std::vector<float>{largest, -largest, 3.0f});
}

TEST_CASE("sums of bf16 are rounded on each hop") {
  // 1 + 2^-8 ties back to 1; the owner's binary32 sum does not, until it rounds as packed.
  const auto codec = make_codec("bf16");
  const SumTerms& sums = *codec->sum_terms();
  CHECK(sums.width_bits(9) == 16);
  std::vector<std::uint32_t> own = {bits_of(1.0f)}, received(1);
  sums.unpack_add(encode(*codec, {0x1p-8f}), 1, own);
  CHECK(float_of(own[0]) == 1.0f + 0x1p-8f);
  std::vector<std::byte> packed(2);
  sums.pack(own, 2, packed);
  sums.unpack_store(packed, 2, received);
  sums.round_as_packed(own, 2);
  CHECK(own == received);
  CHECK(float_of(own[0]) == 1.0f);
}
