#include "compressors/bit_packing.h"

#include <catch2/catch.hpp>
#include <vector>

#include "base/philox.h"
#include "each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

// Bit by bit, straight from the definition.
std::vector<std::byte> pack_slowly(const std::vector<std::uint32_t>& codes, int width) {
  std::vector<std::byte> bytes((codes.size() * static_cast<std::size_t>(width) + 7) / 8);
  std::size_t position = 0;
  for (const std::uint32_t code : codes)
    for (int bit = 0; bit < width; ++bit, ++position)
      bytes[position / 8] |= static_cast<std::byte>((code >> bit & 1u) << (position % 8));
  return bytes;
}

}  // namespace

TEST_CASE("codes of 3 bits pack least significant bit first") {
  // 1, 2, 3, 4, 7 = bits 100 010 110 001 111 (each LSB first) -> 10001011 0001111.
  // Byte 0: 1 + 16 + 64 + 128 = 0xD1; byte 1: bits 3..6 = 8 + 16 + 32 + 64 = 0x78.
  const std::vector<std::uint32_t> codes = {1, 2, 3, 4, 7};
  std::vector<std::byte> packed(packed_bytes(5, 3));
  pack_bits(codes, 3, 0, 7, packed);
  CHECK(packed == std::vector<std::byte>{std::byte{0xD1}, std::byte{0x78}});
}

TEST_CASE("packing equals the definition at every width and length, and unpacks") {
  on_each_instruction_set([] {
    for (int width = 1; width <= 32; ++width)
      for (const std::size_t n : {0u, 1u, 7u, 8u, 9u, 31u, 64u, 77u, 200u}) {
        const std::uint32_t largest = width == 32 ? ~0u : (1u << width) - 1u;
        const std::uint32_t bias = largest / 2;
        std::vector<std::uint32_t> codes(n), values(n);
        for (std::size_t i = 0; i < n; ++i) {
          codes[i] =
              philox_word({.seed = 1, .tensor = static_cast<std::uint32_t>(width)}, i) & largest;
          values[i] = codes[i] - bias;
        }
        std::vector<std::byte> packed(packed_bytes(n, width), std::byte{0xFF});
        pack_bits(values, width, bias, largest, packed);
        REQUIRE(packed == pack_slowly(codes, width));
        std::vector<std::uint32_t> back(n, 5u);
        unpack_bits_add(packed, width, bias, back);
        for (std::size_t i = 0; i < n; ++i) REQUIRE(back[i] == values[i] + 5u);
        unpack_bits(packed, width, bias, back);
        REQUIRE(back == values);
      }
  });
}

TEST_CASE("unpacking reports the largest code, and first_code_above finds it") {
  on_each_instruction_set([] {
    for (std::size_t at = 0; at < 250; ++at) {
      std::vector<std::uint32_t> codes(250, 2u);
      codes[at] = 6;
      std::vector<std::byte> packed(packed_bytes(250, 3));
      pack_bits(codes, 3, 0, 7, packed);
      REQUIRE(unpack_bits(packed, 3, 0, codes) == 6);
      REQUIRE(first_code_above(packed, 3, 250, 5) == at);
      REQUIRE(first_code_above(packed, 3, 250, 6) == 250);
    }
  });
}
