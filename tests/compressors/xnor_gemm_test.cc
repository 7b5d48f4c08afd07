#include "compressors/xnor_gemm.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "base/philox.h"
#include "base/thread_team.h"
#include "each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

struct Codes {
  std::vector<std::uint8_t> codes;
  std::vector<std::byte> planes;
  std::size_t rows, columns;
  int bits;
  CodeMeaning meaning;

  BitPlanes view() const { return {planes, rows, columns, bits, meaning}; }
  int value(std::size_t row, std::size_t column) const {
    const int c = codes[row * columns + column];
    if (meaning == CodeMeaning::kUnsigned) return c;
    return meaning == CodeMeaning::kOdd ? 2 * c - ((1 << bits) - 1) : c - (1 << (bits - 1));
  }
};

Codes with_planes(std::vector<std::uint8_t> codes, std::size_t rows, int bits,
                  CodeMeaning meaning = CodeMeaning::kOdd) {
  const std::size_t columns = rows == 0 ? 0 : codes.size() / rows;
  Codes m{std::move(codes), {}, rows, columns, bits, meaning};
  m.planes.assign(rows * static_cast<std::size_t>(bits) * plane_bytes(columns), std::byte{0xAA});
  split_planes(m.codes, rows, columns, bits, m.planes);
  return m;
}

Codes random_codes(std::size_t rows, std::size_t columns, int bits, std::uint32_t seed,
                   CodeMeaning meaning = CodeMeaning::kOdd) {
  std::vector<std::uint8_t> codes(rows * columns);
  for (std::size_t e = 0; e < codes.size(); ++e)
    codes[e] = static_cast<std::uint8_t>(philox_word({.seed = seed}, e) >> (32 - bits));
  return with_planes(std::move(codes), rows, bits, meaning);
}

std::vector<std::int32_t> plain_product(const Codes& a, const Codes& b) {
  std::vector<std::int32_t> c(a.rows * b.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.rows; ++j)
      for (std::size_t e = 0; e < a.columns; ++e)
        c[i * b.rows + j] += a.value(i, e) * b.value(j, e);
  return c;
}

std::vector<std::int32_t> product(const Codes& a, const Codes& b, ThreadTeam* team = nullptr) {
  std::vector<std::int32_t> c(a.rows * b.rows, -77);
  bit_plane_gemm(a.view(), b.view(), c, team);
  return c;
}

}  // namespace

TEST_CASE("XNOR worked example: 5 - 2 popcount") {
  // 1 -1 -1 1 1 = 0x19 and 1 1 -1 -1 1 = 0x13 differ in two places.
  const Codes a = with_planes({1, 0, 0, 1, 1}, 1, 1), b = with_planes({1, 1, 0, 0, 1}, 1, 1);
  CHECK(a.planes[0] == std::byte{0x19});
  CHECK(b.planes[0] == std::byte{0x13});
  CHECK(a.planes.size() == 8);
  CHECK(product(a, b) == std::vector<std::int32_t>{1});
}

TEST_CASE("first layer worked example: unsigned inputs of 8 bits") {
  // 200 - 3 + 77 = 274.
  const Codes x = with_planes({200, 3, 77}, 1, 8, CodeMeaning::kUnsigned);
  const Codes w = with_planes({1, 0, 1}, 1, 1);
  CHECK(product(x, w) == std::vector<std::int32_t>{274});
  CHECK(product(w, x) == std::vector<std::int32_t>{274});
}

TEST_CASE("the XNOR product is the float product, for all shapes and instruction sets") {
  ThreadTeam team(3);
  on_each_instruction_set([&] {
    for (const std::size_t n : {1u, 5u, 63u, 64u, 65u, 127u, 700u, 20000u})
      for (const auto& [m, k] : {std::pair<std::size_t, std::size_t>{1, 1}, {3, 8}, {17, 9}}) {
        const Codes a = random_codes(m, n, 1, 1), b = random_codes(k, n, 1, 2);
        const auto c = product(a, b);
        REQUIRE(c == plain_product(a, b));
        for (const std::int32_t value : c)  // parity
          REQUIRE((value - static_cast<std::int32_t>(n)) % 2 == 0);
        std::vector<float> floats(c.size());
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < k; ++j)
            for (std::size_t e = 0; e < n; ++e)
              floats[i * k + j] += static_cast<float>(a.value(i, e) * b.value(j, e));
        for (std::size_t e = 0; e < c.size(); ++e) REQUIRE(static_cast<float>(c[e]) == floats[e]);
      }
    const Codes a = random_codes(300, 1000, 1, 3), b = random_codes(100, 1000, 1, 4);
    REQUIRE(product(a, b, &team) == product(a, b));
    REQUIRE(product(a, b) == plain_product(a, b));
  });
}

TEST_CASE("blocks and panels of the XNOR product end anywhere") {
  // Rows of a: one by one below 4, then in blocks of 64; of b: panels of 32, 64 and 128; columns in
  // parts of 3, 12 and 48 words.
  on_each_instruction_set([&] {
    for (const std::size_t n : {1u, 64u, 193u, 769u, 3137u})
      for (const auto& [m, k] : {std::pair<std::size_t, std::size_t>{1, 300},
                                 {3, 5},
                                 {4, 4},
                                 {5, 33},
                                 {65, 64},
                                 {130, 65},
                                 {7, 257},
                                 {2049, 4}}) {
        const Codes a = random_codes(m, n, 1, 11), b = random_codes(k, n, 1, 12);
        REQUIRE(product(a, b) == plain_product(a, b));
      }
    // All bits differ: 255 is not enough for 48 words' nibbles, nor 8 bits for a row.
    const Codes ones = with_planes(std::vector<std::uint8_t>(8 * 6400, 1), 8, 1);
    const Codes zeros = with_planes(std::vector<std::uint8_t>(40 * 6400, 0), 40, 1);
    REQUIRE(product(ones, zeros) == std::vector<std::int32_t>(8 * 40, -6400));
  });
}

TEST_CASE("products of k-bit codes by planes are the integers' products") {
  ThreadTeam team(2);
  const CodeMeaning meanings[] = {CodeMeaning::kOdd, CodeMeaning::kUnsigned, CodeMeaning::kCentred};
  on_each_instruction_set([&] {
    for (const auto& [ka, kb] : {std::pair{1, 2}, {2, 2}, {3, 1}, {4, 4}, {8, 1}, {8, 8}, {5, 7}})
      for (const CodeMeaning ma : meanings)
        for (const CodeMeaning mb : meanings) {
          const Codes a = random_codes(11, 333, ka, 5, ma), b = random_codes(13, 333, kb, 6, mb);
          REQUIRE(product(a, b) == plain_product(a, b));
        }
    const Codes a = random_codes(200, 500, 2, 7), b = random_codes(64, 500, 2, 8);
    REQUIRE(product(a, b, &team) == plain_product(a, b));
  });
}

TEST_CASE("products at their limits") {
  // 33,025 columns of 255 by 255 are 2^31 - 1 at most; extreme codes reach the end.
  const std::size_t most = 2147483647u / (255 * 255);
  const std::vector<std::uint8_t> ones(most, 255), zeros(most, 0);
  const Codes a = with_planes(ones, 1, 8), b = with_planes(zeros, 1, 8);
  CHECK(product(a, a)[0] == static_cast<std::int32_t>(most * 255 * 255));
  CHECK(product(a, b)[0] == -static_cast<std::int32_t>(most * 255 * 255));
  const Codes longer = random_codes(1, most + 1, 8, 1);
  CHECK_THROWS_WITH(product(longer, longer), Contains("too long for sums of 32 bits"));
  CHECK_THROWS_WITH(product(a, random_codes(1, 3, 8, 1)), Contains("differ in length"));
  CHECK(product(random_codes(0, 5, 1, 1), random_codes(0, 5, 1, 1)).empty());
  CHECK(product(random_codes(2, 0, 1, 1), random_codes(2, 0, 1, 1)) ==
        std::vector<std::int32_t>{0, 0, 0, 0});
  std::vector<std::int32_t> small(3);
  CHECK_THROWS_WITH(bit_plane_gemm(random_codes(2, 5, 1, 1).view(), a.view(), small),
                    Contains("differ in length"));
}

TEST_CASE("padding that differs counts as columns that differ") {
  // The negative control of the padding rule: one stray bit beyond the columns takes 2 off.
  Codes a = random_codes(1, 5, 1, 1), b = random_codes(1, 5, 1, 2);
  const auto right = product(a, b);
  a.planes[7] = std::byte{0x80};
  CHECK(product(a, b)[0] == right[0] - 2);
}
