#include "compressors/trits.h"

#include <catch2/catch.hpp>

#include "base/philox.h"
#include "compressors/bit_packing.h"

using namespace gradwire;
using namespace gradwire::compressors;

TEST_CASE("five codes a byte, the first least significant") {
  // 1 0 2 1 1 | 0: 1 + 0*3 + 2*9 + 1*27 + 1*81 = 127; 0.
  const std::vector<std::uint32_t> terms = {1, 0, 2, 1, 1, 0};
  std::vector<std::byte> codes(2), trits(2), back(2);
  pack_bits(terms, 2, 0, 2, codes);
  trits_from_codes(codes, 6, trits);
  CHECK(trits == std::vector<std::byte>{std::byte{127}, std::byte{0}});
  CHECK(codes_from_trits(trits, 6, back) == 2);
  CHECK(back == codes);
}

TEST_CASE("trits come back at any length, and bytes above 242 are found") {
  for (std::size_t n = 0; n < 130; ++n) {
    std::vector<std::uint32_t> terms(n);
    for (std::size_t i = 0; i < n; ++i) terms[i] = philox_word({.seed = n}, i) % 3;
    std::vector<std::byte> codes(packed_bytes(n, 2)), trits(trit_bytes(n)), back(codes.size());
    pack_bits(terms, 2, 0, 2, codes);
    trits_from_codes(codes, n, trits);
    for (std::size_t i = 0; i < n; ++i) {
      constexpr unsigned kPowers[] = {1, 3, 9, 27, 81};
      REQUIRE(std::to_integer<unsigned>(trits[i / 5]) / kPowers[i % 5] % 3 == terms[i]);
    }
    REQUIRE(codes_from_trits(trits, n, back) == trits.size());
    REQUIRE(back == codes);
    for (std::size_t bad = 0; bad < trits.size(); ++bad) {
      auto broken = trits;
      broken[bad] = std::byte{243};
      REQUIRE(codes_from_trits(broken, n, back) == bad);
    }
  }
}
