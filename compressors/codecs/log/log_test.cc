#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>

#include "compressors/arithmetic/power_of_two.h"
#include "tests/compressors/codec_fixture.h"
#include "tests/compressors/each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

float ap2(float x) {
  if (x == 0) return 0;
  return std::copysign(power_of_two(power_of_two_exponent(magnitude_bits(x))), x);
}

}  // namespace

TEST_CASE("AP2 is the nearest power of two on a log scale") {
  CHECK(ap2(0.3f) == 0.25f);
  CHECK(ap2(0.7f) == 0.5f);
  CHECK(ap2(3.0f) == 4.0f);
  CHECK(ap2(-5.0f) == -4.0f);
  CHECK(ap2(6.0f) == 8.0f);
  // The two floats around sqrt 2, and around sqrt 2 among the subnormals.
  CHECK(ap2(1.41421354f) == 1.0f);
  CHECK(ap2(1.41421366f) == 2.0f);
  for (std::uint32_t bits = 1; bits < 0x7F000000u; bits += bits < 70000 ? 1 : 8191) {
    const double x = double{float_of(bits)};
    REQUIRE(power_of_two_exponent(bits) == static_cast<int>(std::rint(std::log2(x))));
    if (bits >= 0x800000u)  // subnormals too, but for 2^-150
      REQUIRE(std::abs(double{ap2(float_of(bits))} - x) <= (std::sqrt(2.0) - 1) * x);
  }
}

TEST_CASE("log worked example, both ways") {
  // Exponents -2, -4, none, -1; emax -1; codes 2, 32 + 4, 0, 1:
  // 2 + 36 * 2^6 + 1 * 2^18 = 0x040902.
  const auto codec = make_codec("log");
  const auto payload = encode(*codec, {0.3f, -0.05f, 0, 0.7f});
  CHECK(hex(payload) ==
        "04000000"
        "ff"
        "020904");
  CHECK(decode(*codec, payload, 4) == std::vector<float>{0.25f, -0.0625f, 0, 0.5f});
  const auto fields = codec->explain(payload, 4, {});
  REQUIRE(fields.size() == 3);
  CHECK(fields[1].value == "-1");
  CHECK(fields[2].value == "2, 36, 0, 1");
}

TEST_CASE("the log code is AP2 within 31 octaves of the largest, and 0 below") {
  const auto codec = make_codec("log");
  on_each_instruction_set([&] {
    for (const int shift : {0, 100, -60, -90, -110, -130}) {
      auto x = random_values(2000, 5);
      for (std::size_t e = 0; e < x.size(); ++e)
        x[e] = std::ldexp(x[e], shift - static_cast<int>(e % 40));
      float largest = 0;
      for (const float value : x) largest = std::max(largest, std::abs(value));
      const int emax = log_largest_exponent(magnitude_bits(largest));
      const auto y = decode(*codec, encode(*codec, x), x.size());
      std::size_t lost = 0;
      for (std::size_t e = 0; e < x.size(); ++e) {
        const bool kept = x[e] != 0 && power_of_two_exponent(magnitude_bits(x[e])) > emax - 31;
        REQUIRE(y[e] == (kept ? ap2(x[e]) : 0.0f));
        lost += !kept;
      }
      CHECK(lost > 0);
      CHECK(lost < x.size());
      REQUIRE(encode(*codec, y) == encode(*codec, x));
    }
  });
}

TEST_CASE("the log code at the ends of the number range") {
  const auto codec = make_codec("log");
  // 2^128 is clipped to 2^127; emax stops at -128, whence 22 codes still reach 2^-149.
  CHECK(decode(*codec, encode(*codec, {FLT_MAX, -1e38f}), 2) ==
        std::vector<float>{0x1p127f, -0x1p126f});
  const auto payload = encode(*codec, {FLT_TRUE_MIN, -0x1p-140f});
  CHECK(payload[4] == std::byte{0x80});
  CHECK(decode(*codec, payload, 2) == std::vector<float>{FLT_TRUE_MIN, -0x1p-140f});
  CHECK(hex(encode(*codec, {0, -0.0f})) ==
        "02000000"
        "00"
        "0000");
  CHECK_THROWS_WITH(decode(*codec, encode(*codec, {1, 2, 3}), 5), Contains("it ends at byte 8"));
  auto other = encode(*codec, {1, 2, 3});
  other[1] = std::byte{1};
  CHECK_THROWS_WITH(decode(*codec, other, 3), Contains("a count of 259 for 3"));
}
