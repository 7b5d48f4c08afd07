#include "compressors/coding/huffman.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <string>

#include "codec_fixture.h"
#include "compressors/codecs/sz/symbol_counts.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

constexpr std::uint8_t kNone = kHuffmanAbsent;

struct Book {
  std::vector<std::uint8_t> lengths;
  std::vector<HuffmanCode> codes;
  int longest = 0;
};

Book book_of(const std::vector<std::uint32_t>& counts, int limit = 0) {
  Book book{std::vector<std::uint8_t>(counts.size()), std::vector<HuffmanCode>(counts.size())};
  std::vector<std::byte> scratch(huffman_scratch_size(counts.size()));
  book.longest = limit == 0 ? huffman_lengths(counts, book.lengths, scratch)
                            : huffman_lengths(counts, limit, book.lengths, scratch);
  huffman_codes(book.lengths, book.codes);
  return book;
}

std::vector<std::uint32_t> counts_of(const std::vector<std::uint16_t>& symbols, std::size_t n) {
  std::vector<std::uint32_t> counts(n), tables(4 * n);
  kernels::count_symbols(symbols.data(), symbols.size(), n, tables.data());
  for (std::size_t i = 0; i < 4 * n; ++i) counts[i % n] += tables[i];
  return counts;
}

std::string text_of(HuffmanCode code) {
  std::string text;
  for (int bit = static_cast<int>(code & 0xFF); bit-- > 0;)
    text += (code >> (8 + bit) & 1) != 0 ? '1' : '0';
  return text;
}

std::vector<std::byte> stream_of(const std::vector<std::uint16_t>& symbols, const Book& book,
                                 std::uint64_t bits) {
  std::vector<std::byte> bytes((bits + 7) / 8);
  BitWriter out(bytes);
  huffman_encode(symbols, book.codes, book.longest, out);
  CHECK(out.bit_position() == bits);
  CHECK(out.finish() == bytes.size());
  return bytes;
}

std::vector<std::uint16_t> decoded(const std::vector<std::byte>& bytes, const Book& book,
                                   std::size_t n, std::uint64_t bits) {
  std::vector<std::uint64_t> table(HuffmanDecoder::table_size(book.longest) / 8);
  HuffmanDecoder decoder;
  decoder.build(book.lengths, std::as_writable_bytes(std::span(table)));
  std::vector<std::uint16_t> symbols(n + HuffmanDecoder::kSlack);
  BitReader in(bytes);
  decoder.decode(in, n, symbols.data());
  CHECK(in.bit_position() == bits);
  symbols.resize(n);
  return symbols;
}

double entropy_of(const std::vector<std::uint32_t>& counts) {
  const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
  double bits = 0;
  for (const std::uint32_t count : counts)
    if (count > 0) bits += count / n * std::log2(n / count);
  return bits;
}

/// Symbols whose frequencies fall off by `ratio` from one to the next.
std::vector<std::uint16_t> skewed(std::size_t n, std::size_t alphabet, double ratio) {
  std::vector<std::uint16_t> symbols(n);
  const RandomStream stream{.seed = 4};
  for (std::size_t i = 0; i < n; ++i) {
    const double u = 1.0 - uniform(stream, i);
    symbols[i] = static_cast<std::uint16_t>(
        std::min(alphabet - 1.0, std::floor(std::log(u) / std::log(ratio))));
  }
  return symbols;
}

/// Counts 1, 1, 2, 3, 5, ...: Huffman's tree is a path.
std::vector<std::uint32_t> fibonacci(std::size_t n) {
  std::vector<std::uint32_t> counts(n, 1);
  for (std::size_t i = 2; i < n; ++i) counts[i] = counts[i - 1] + counts[i - 2];
  return counts;
}

}  // namespace

TEST_CASE("COMET's worked example: lengths, codes and stream") {
  // Symbols -3 ... 2 as 0 ... 5: counts -3:1, -1:1, 0:3, 1:2, 2:1. Joined: (-3, -1) = 2;
  // 2 and (-3, -1) = 3; 1 and (-3, -1, 2), of smaller symbol than 0, = 5; 0 last.
  const Book book = book_of({1, 0, 1, 3, 2, 1});
  CHECK(book.lengths == std::vector<std::uint8_t>{4, kNone, 4, 1, 2, 3});
  CHECK(text_of(book.codes[3]) == "0");
  CHECK(text_of(book.codes[4]) == "10");
  CHECK(text_of(book.codes[5]) == "110");
  CHECK(text_of(book.codes[0]) == "1110");
  CHECK(text_of(book.codes[2]) == "1111");
  const std::vector<std::uint16_t> symbols = {3, 3, 5, 4, 0, 2, 4, 3};
  const auto bytes = stream_of(symbols, book, 18);  // 0 0 110 10 1110 1111 10 0
  CHECK(hex(bytes) == "35df00");
  CHECK(decoded(bytes, book, 8, 18) == symbols);
  CHECK(8 * entropy_of({1, 0, 1, 3, 2, 1}) == Approx(17.25).margin(0.01));
}

TEST_CASE("entropy <= bits a symbol < entropy + 1, and streams come back") {
  for (const double ratio : {0.02, 0.5, 0.8, 0.97, 0.995}) {
    for (const std::size_t n : {1u, 2u, 7u, 100u, 4099u, 50000u}) {
      const auto symbols = skewed(n, 1024, ratio);
      const auto counts = counts_of(symbols, 1024);
      const Book book = book_of(counts);
      const std::uint64_t bits = huffman_bits(counts, book.lengths);
      const double average = static_cast<double>(bits) / static_cast<double>(n);
      INFO(ratio << " " << n);
      CHECK(average >= entropy_of(counts) - 1e-9);
      CHECK(average < entropy_of(counts) + 1);
      CHECK(book.longest <= kHuffmanLong);
      CHECK(huffman_is_complete(book.lengths));
      CHECK(decoded(stream_of(symbols, book, bits), book, n, bits) == symbols);
    }
  }
}

TEST_CASE("plain Huffman codes cannot go below one bit: 99 % zeros take 1.0x bits, not 0.08") {
  const Book book = book_of({99, 1});
  CHECK(huffman_bits(std::vector<std::uint32_t>{99, 1}, book.lengths) == 100);
  CHECK(100 * entropy_of({99, 1}) == Approx(8.08).margin(0.01));
}

TEST_CASE("a lone symbol has the empty code, no symbol has none") {
  const Book book = book_of({0, 0, 9});
  CHECK(book.lengths == std::vector<std::uint8_t>{kNone, kNone, 0});
  CHECK(book.longest == 0);
  CHECK(decoded({}, book, 9, 0) == std::vector<std::uint16_t>(9, 2));
  CHECK(book_of({0, 0}).lengths == std::vector<std::uint8_t>{kNone, kNone});
}

TEST_CASE("package-merge keeps the limit at the least cost") {
  // 1, 1, 2, 3, 5, 8 within 3 bits: 6 leaves in 8 places, two codes of 2 bits: the heaviest.
  // Cost 2 (5 + 8) + 3 (1 + 1 + 2 + 3) = 47.
  const auto counts = fibonacci(6);
  CHECK(book_of(counts).longest == 5);
  const Book book = book_of(counts, 3);
  CHECK(book.lengths == std::vector<std::uint8_t>{3, 3, 3, 3, 2, 2});
  CHECK(huffman_bits(counts, book.lengths) == 47);
  // Within 4 bits: 1 1 2 3 | 5 8. All complete codes of 6 leaves of at most 4 bits: the best has
  // lengths 4 4 4 4 2 1 (16 + 12 + ... = 4 * 7 + 2 * 5 + 8 = 46).
  CHECK(huffman_bits(counts, book_of(counts, 4).lengths) == 46);
}

TEST_CASE("no complete code within the limit is cheaper: all of them for five symbols") {
  const std::vector<std::uint32_t> counts = {1, 2, 4, 8, 16};
  for (const int limit : {3, 4}) {
    std::uint64_t least = ~std::uint64_t{0};
    for (int code = 0; code < 1024; ++code) {  // lengths 1 to 4 each
      std::vector<std::uint8_t> lengths(5);
      for (int s = 0; s < 5; ++s)
        lengths[static_cast<std::size_t>(s)] = static_cast<std::uint8_t>((code >> (2 * s) & 3) + 1);
      if (*std::max_element(lengths.begin(), lengths.end()) <= limit &&
          huffman_is_complete(lengths))
        least = std::min(least, huffman_bits(counts, lengths));
    }
    CHECK(huffman_bits(counts, book_of(counts, limit).lengths) == least);
  }
}

TEST_CASE("the limit is 12 bits, 15 where 12 would cost more than 1/64") {
  CHECK(book_of(fibonacci(25)).longest == 12);  // the path's deep leaves are light
  std::vector<std::uint32_t> counts(4000, 1);   // 4000 rare symbols take 12 bits in any case,
  counts[0] = 4000000;                          // which would push the frequent ones down
  for (std::size_t s = 1; s < 8; ++s) counts[s] = 400000u >> s;
  const Book book = book_of(counts);
  CHECK(book.longest > 12);
  CHECK(book.longest <= 15);
  CHECK(huffman_is_complete(book.lengths));
  CHECK(book_of(std::vector<std::uint32_t>(5000, 3)).longest == 13);  // 2^12 < 5000
}

TEST_CASE("incomplete and oversubscribed codes are told apart from complete ones") {
  CHECK(huffman_is_complete(std::vector<std::uint8_t>{1, 2, 2}));
  CHECK(huffman_is_complete(std::vector<std::uint8_t>{0, kNone}));
  CHECK_FALSE(huffman_is_complete(std::vector<std::uint8_t>{1, 2}));
  CHECK_FALSE(huffman_is_complete(std::vector<std::uint8_t>{1, 1, 2}));
  CHECK_FALSE(huffman_is_complete(std::vector<std::uint8_t>{0, 0}));
  CHECK_FALSE(huffman_is_complete(std::vector<std::uint8_t>{0, 1, 1}));
  CHECK_FALSE(huffman_is_complete(std::vector<std::uint8_t>{1, 40}));
  CHECK_FALSE(huffman_is_complete(std::vector<std::uint8_t>{1}));
  CHECK_FALSE(huffman_is_complete({}));
}

TEST_CASE("streams that end early are noticed") {
  const Book book = book_of({1, 1, 1, 1});
  std::vector<std::uint64_t> table(HuffmanDecoder::table_size(book.longest) / 8);
  HuffmanDecoder decoder;
  decoder.build(book.lengths, std::as_writable_bytes(std::span(table)));
  const std::vector<std::byte> two(2);  // 8 symbols of 2 bits
  std::vector<std::uint16_t> symbols(9 + HuffmanDecoder::kSlack);
  BitReader eight(two), nine(two);
  decoder.decode(eight, 8, symbols.data());
  CHECK_FALSE(eight.overrun());
  decoder.decode(nine, 9, symbols.data());
  CHECK(nine.overrun());
}

TEST_CASE("masks of equal symbols") {
  const auto symbols = skewed(333, 8, 0.5);
  std::vector<std::uint64_t> mask(6, ~std::uint64_t{0});
  kernels::equal_mask(symbols.data(), 333, 1, mask.data());
  for (std::size_t i = 0; i < 384; ++i)
    REQUIRE((mask[i / 64] >> (i % 64) & 1) == (i < 333 && symbols[i] == 1 ? 1u : 0u));
}

TEST_CASE("runs of ones by class, against a walk from bit to bit") {
  for (const double share : {0.0, 0.3, 0.5, 0.99, 0.9995, 1.0}) {
    std::vector<std::uint64_t> mask(64);
    const RandomStream stream{.seed = 8};
    for (std::size_t i = 0; i < 4096; ++i)
      mask[i / 64] |= std::uint64_t{uniform(stream, i) < share} << (i % 64);
    for (const std::size_t words : {1u, 5u, 64u}) {
      std::vector<std::uint32_t> expected(kernels::kRunClasses), classes(kernels::kRunClasses);
      std::size_t run = 0;
      for (std::size_t i = 0; i <= 64 * words; ++i) {
        const bool one = i < 64 * words && (mask[i / 64] >> (i % 64) & 1) != 0;
        if (!one && run > 0) ++expected[static_cast<std::size_t>(std::bit_width(run)) - 1];
        run = one ? run + 1 : 0;
      }
      kernels::count_runs(mask.data(), words, classes.data());
      CHECK(classes == expected);
    }
  }
}
