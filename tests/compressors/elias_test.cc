#include "compressors/coding/elias.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace gradwire::compressors;

namespace {

std::string text_of(std::uint64_t k) {
  const EliasCode code = elias_code(k);
  std::string text;
  for (int bit = code.width; bit-- > 0;) text += code.bits >> bit & 1 ? '1' : '0';
  return text;
}

}  // namespace

TEST_CASE("Elias omega codes as defined") {
  CHECK(text_of(1) == "0");
  CHECK(text_of(2) == "100");
  CHECK(text_of(3) == "110");
  CHECK(text_of(4) == "101000");
  CHECK(text_of(5) == "101010");
  CHECK(text_of(7) == "101110");
  CHECK(text_of(8) == "1110000");
  CHECK(text_of(16) == "10100100000");
}

TEST_CASE("Elias omega round trip of 1 to 100000, and of the largest") {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t k = 1; k <= 100000; ++k) numbers.push_back(k);
  for (int shift = 17; shift < 33; ++shift) numbers.push_back(std::uint64_t{1} << shift);
  numbers.push_back(kLargestElias);
  std::vector<std::byte> bytes(8 * numbers.size());
  BitWriter out(bytes);
  for (const std::uint64_t k : numbers) out.put(elias_code(k).bits, elias_code(k).width);
  bytes.resize(out.finish());
  BitReader in(bytes);
  for (const std::uint64_t k : numbers) {
    in.refill();
    REQUIRE(take_elias(in) == k);
  }
  CHECK_FALSE(in.overrun());
}

TEST_CASE("Elias omega refuses numbers beyond its limit") {
  // 2 -> 3 digits (4..7) -> 7 + 1 digits -> ... a run of ones names ever longer numbers.
  const std::vector<std::byte> ones(16, std::byte{0xFF});
  BitReader in(ones);
  CHECK(take_elias(in) == 0);
}
