#include "compressors/coding/bit_stream.h"

#include <bit>
#include <catch2/catch.hpp>
#include <vector>

#include "codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

struct Symbol {
  std::uint64_t bits;
  int width;
};

std::vector<Symbol> random_symbols(std::size_t count, int largest_width) {
  std::vector<Symbol> symbols(count);
  const RandomStream stream{.seed = 5};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word =
        std::uint64_t{philox_word(stream, 3 * i)} << 32 | philox_word(stream, 3 * i + 1);
    const auto widths = static_cast<std::uint32_t>(largest_width) + 1;
    const int width = static_cast<int>(philox_word(stream, 3 * i + 2) % widths);
    symbols[i] = {width == 0 ? 0 : word >> (64 - width), width};
  }
  return symbols;
}

std::uint64_t total_bits(const std::vector<Symbol>& symbols) {
  std::uint64_t total = 0;
  for (const Symbol& symbol : symbols) total += static_cast<std::uint64_t>(symbol.width);
  return total;
}

}  // namespace

TEST_CASE("bits are written most significant first") {
  // 0011 0100 0110 1010 1 + seven zeros
  std::vector<std::byte> bytes(3, std::byte{0xAA});
  BitWriter out(bytes);
  for (const Symbol symbol : {Symbol{0b0011, 4}, {0b0100, 4}, {0b0110, 4}, {0b10101, 5}})
    out.put(symbol.bits, symbol.width);
  CHECK(out.bit_position() == 17);
  CHECK(out.finish() == 3);
  CHECK(hex(bytes) == "346a80");
  BitReader in(bytes);
  CHECK(in.read(4) == 0b0011);
  CHECK(in.read(0) == 0);
  CHECK(in.read(8) == 0b01000110);
  CHECK(in.read(5) == 0b10101);
  CHECK(in.bit_position() == 17);
  CHECK_FALSE(in.overrun());
}

TEST_CASE("symbols of every width come back from bytes of exactly their size") {
  for (const int largest : {1, 7, 8, 33, 56, 64}) {
    const auto symbols = random_symbols(500, largest);
    std::vector<std::byte> bytes((total_bits(symbols) + 7) / 8);
    BitWriter out(bytes);
    for (const Symbol& symbol : symbols) out.put_wide(symbol.bits, symbol.width);
    CHECK(out.bit_position() == total_bits(symbols));
    CHECK(out.finish() == bytes.size());
    BitReader in(bytes);
    for (const Symbol& symbol : symbols) REQUIRE(in.read_wide(symbol.width) == symbol.bits);
    CHECK(in.bit_position() == total_bits(symbols));
    CHECK_FALSE(in.overrun());
  }
}

TEST_CASE("several symbols share one access to memory") {
  const auto symbols = random_symbols(400, 14);  // four of them fit in 56 bits
  std::vector<std::byte> bytes((total_bits(symbols) + 7) / 8);
  BitWriter out(bytes);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    out.append(symbols[i].bits, symbols[i].width);
    if (i % 4 == 3) out.flush();
  }
  CHECK(out.finish() == bytes.size());
  BitReader in(bytes);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (i % 4 == 0) in.refill();
    REQUIRE(in.take(symbols[i].width) == symbols[i].bits);
  }
  CHECK_FALSE(in.overrun());
}

TEST_CASE("a reader starts at any bit") {
  const auto bytes = from_hex("346a80ffeeddccbbaa99");
  for (std::uint64_t first = 0; first <= 80; ++first) {
    BitReader in(bytes, first);
    CHECK(in.bit_position() == first);
    for (std::uint64_t bit = first; bit < 80; ++bit) {
      const unsigned byte = std::to_integer<unsigned>(bytes[bit / 8]);
      REQUIRE(in.read(1) == (byte >> (7 - bit % 8) & 1u));
    }
    CHECK_FALSE(in.overrun());
  }
}

TEST_CASE("past the end come zeros, and it is said") {
  for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 20u}) {
    const std::vector<std::byte> bytes(size, std::byte{0xFF});
    BitReader in(bytes);
    for (std::size_t i = 0; i < size; ++i) REQUIRE(in.read(8) == 0xFF);
    CHECK_FALSE(in.overrun());
    CHECK(in.read(1) == 0);
    CHECK(in.overrun());
    for (int i = 0; i < 50; ++i) REQUIRE(in.read(56) == 0);
    CHECK(in.bit_position() == 8 * size + 1 + 50 * 56);
    CHECK(in.overrun());
  }
}

TEST_CASE("long runs of ones") {
  std::vector<std::byte> bytes(30);
  for (const std::uint64_t count : {0u, 1u, 31u, 32u, 33u, 64u, 65u, 200u}) {
    BitWriter out(bytes);
    out.put_ones(count);
    out.put(0, 1);
    CHECK(out.bit_position() == count + 1);
    const std::size_t size = out.finish();
    const std::span<const std::byte> written{bytes.data(), size};
    BitReader in(written);
    for (std::uint64_t i = 0; i < count; ++i) REQUIRE(in.read(1) == 1);
    CHECK(in.read(1) == 0);
  }
}
