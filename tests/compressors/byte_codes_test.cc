#include "compressors/coding/byte_codes.h"

#include <catch2/catch.hpp>
#include <vector>

#include "codec_fixture.h"
#include "compressors/coding/delta_gaps.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

std::vector<std::byte> some_codes(std::size_t n, int bits) {
  std::vector<std::byte> codes(n);
  for (std::size_t i = 0; i < n; ++i)
    codes[i] = static_cast<std::byte>(philox_word(RandomStream{.seed = 5}, i) & ((1u << bits) - 1));
  return codes;
}

/// The bytes of a stream of one bit, and then what `write` puts there.
template <class Write>
std::vector<std::byte> written(std::size_t room, Write&& write) {
  std::vector<std::byte> bytes(room);
  BitWriter out(bytes);
  out.put(1, 1);
  write(out);
  bytes.resize(out.finish());
  return bytes;
}

std::vector<std::byte> gaps_of(const std::vector<std::uint32_t>& indices) {
  return written(8 * indices.size() + 16, [&](BitWriter& out) { write_delta_gaps(out, indices); });
}

}  // namespace

TEST_CASE("eight codes of 3 bits are joined, the first on top") {
  // 1 2 3 4 5 6 7 0 = 001 010 011 100 101 110 111 000
  CHECK(join_codes(0x0102030405060700, 3) == 0b001010011100101110111000);
  CHECK(split_codes(0b001010011100101110111000, 3) == 0x0102030405060700);
}

TEST_CASE("codes of each width are what one put a code writes, and come back") {
  for (int bits = 1; bits <= kMostByteCodeBits; ++bits)
    for (const std::size_t n : {0u, 1u, 7u, 8u, 9u, 64u, 1001u}) {
      const auto codes = some_codes(n, bits);
      const auto bytes = written(n + 16, [&](BitWriter& out) { put_codes(out, codes, bits); });
      const auto one_by_one = [&](std::size_t count) {
        return written(n + 16, [&](BitWriter& out) {
          for (std::size_t i = 0; i < count; ++i)
            out.put(std::to_integer<std::uint64_t>(codes[i]), bits);
        });
      };
      REQUIRE(bytes == one_by_one(n));
      if (n >= 8) CHECK(bytes != one_by_one(n - 8));
      BitReader in(bytes, 1);
      for (std::size_t i = 0; i + 8 <= n; i += 8)
        REQUIRE(take_codes(in, bits) == load_big_endian(codes.data() + i));
    }
}

TEST_CASE("a run of neighbours is written as its indices are, wherever blocks of 64 end") {
  for (const std::uint32_t first : {0u, 1u, 900u})
    for (const std::size_t before : {0u, 1u, 62u, 63u, 64u, 130u})
      for (const std::size_t count : {1u, 2u, 63u, 64u, 65u, 640u}) {
        std::vector<std::uint32_t> indices;
        for (std::size_t i = 0; i < before; ++i)
          indices.push_back(static_cast<std::uint32_t>(3 * i));
        const auto start = static_cast<std::uint32_t>(3 * before) + first;
        for (std::size_t i = 0; i < count; ++i)
          indices.push_back(start + static_cast<std::uint32_t>(i));
        indices.push_back(start + 5000);
        const auto bytes = written(8 * indices.size() + 16, [&](BitWriter& out) {
          DeltaGapWriter gaps(out);
          for (std::size_t i = 0; i < before; ++i) gaps.add(indices[i]);
          gaps.add_run(start, count);
          gaps.add(start + 5000);
          gaps.finish();
        });
        REQUIRE(bytes == gaps_of(indices));
        indices.back() += 1;
        REQUIRE(bytes != gaps_of(indices));
      }
}

TEST_CASE("no index, no gaps") {
  CHECK(gaps_of({}) == written(8, [](BitWriter&) {}));
}
