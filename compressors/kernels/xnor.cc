#include "compressors/kernels/xnor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/xnor.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

// Whether bits are counted by looking up four at a time: where vectors look up bytes, but have no
// instruction that counts bits.
#undef GRADWIRE_XNOR_LOOKUP
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3_DL && HWY_TARGET <= HWY_SSSE3
#define GRADWIRE_XNOR_LOOKUP 1
#else
#define GRADWIRE_XNOR_LOOKUP 0
#endif

#ifndef GRADWIRE_XNOR_ONCE
#define GRADWIRE_XNOR_ONCE
namespace gradwire::compressors::kernels {

/// Row `a` of 16 bytes: how many bits differ between the nibbles a and 0 ... 15.
struct NibbleCounts {
  alignas(64) std::uint8_t of[16][16];
};

inline constexpr NibbleCounts kNibbleCounts = [] {
  NibbleCounts counts{};
  for (unsigned a = 0; a < 16; ++a)
    for (unsigned b = 0; b < 16; ++b)
      counts.of[a][b] = static_cast<std::uint8_t>(std::popcount(a ^ b));
  return counts;
}();

}  // namespace gradwire::compressors::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names
namespace hn = hwy::HWY_NAMESPACE;

using Word = std::uint64_t;

HWY_INLINE Word load_word(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

#if GRADWIRE_XNOR_LOOKUP

// A panel has a nibble of 128 rows of b in as many bytes, nibble after nibble; lane j counts for
// row j, so that nothing is summed across lanes. A nibble of a picks a table of 16 counts, which is
// then looked up for all of the panel's rows: two instructions for 128 pairs of bits.
inline constexpr std::size_t kPanelRows = 128;
inline constexpr std::size_t kPanelWords = 48;  // 96 KiB
inline constexpr std::size_t kPartWords = 12;   // of a panel: 24 KiB, in a first cache of 32
inline constexpr std::size_t kBlockRows = 64;   // of a: the parts take turns at so many
inline constexpr std::size_t kNibbles = 16;     // in a word
inline constexpr std::size_t kByteWords = 3;    // 48 nibbles differ in 192 bits, which a byte holds

using ByteTag = hn::CappedTag<std::uint8_t, kPanelRows>;
using ShortTag = hn::Repartition<std::uint16_t, ByteTag>;
using CountTag = hn::Repartition<std::int32_t, ByteTag>;
inline constexpr std::size_t kBytes = hn::MaxLanes(ByteTag());
inline constexpr std::size_t kCounts = hn::MaxLanes(CountTag());

/// A vector's first rows lie in its even bytes, the others in its odd ones: see widen().
constexpr std::size_t place_of(std::size_t row) {
  const std::size_t lane = row % kBytes, half = kBytes / 2;
  return row - lane + lane % half * 2 + lane / half;
}

void fill_panel(const BitRows& b, std::size_t first, std::size_t rows, std::size_t at,
                std::size_t words, std::uint8_t* panel) {
  if (rows < kPanelRows) std::memset(panel, 0, words * kNibbles * kPanelRows);
  for (std::size_t w = 0; w < words; ++w)
    for (std::size_t j = 0; j < rows; ++j) {
      Word word = load_word(b.first + (first + j) * b.stride + at + w * sizeof word);
      std::uint8_t* to = panel + w * kNibbles * kPanelRows + place_of(j);
      for (std::size_t t = 0; t < kNibbles; ++t, word >>= 4, to += kPanelRows) *to = word & 15;
    }
}

/// What differs in up to kByteWords words, by row of the panel.
template <std::size_t kRows, std::size_t kVectors>
HWY_INLINE void count_bytes(const std::byte* const (&a)[kRows], const std::uint8_t* panel,
                            std::size_t words, hn::Vec<ByteTag> (&sums)[kRows * kVectors]) {
  const ByteTag d;
#pragma GCC unroll 16
  for (auto& sum : sums) sum = hn::Zero(d);
  for (std::size_t w = 0; w < words; ++w) {
    Word word[kRows];
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kRows; ++r)
      word[r] = std::rotl(load_word(a[r] + w * sizeof(Word)), 4);  // 16 times a nibble: an offset
#pragma GCC unroll 8
    for (std::size_t t = 0; t < kNibbles; ++t, panel += kPanelRows) {
      hn::Vec<ByteTag> tables[kRows];
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kRows; ++r) {
        tables[r] = hn::LoadDup128(d, kNibbleCounts.of[0] + (word[r] & 0xF0));
        word[r] = std::rotr(word[r], 4);
      }
#pragma GCC unroll 16
      for (std::size_t v = 0; v < kVectors; ++v) {
        const auto nibbles = hn::Load(d, panel + v * kBytes);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < kRows; ++r) {
          auto& sum = sums[r * kVectors + v];
          sum = hn::Add(sum, hn::TableLookupBytes(tables[r], nibbles));
        }
      }
    }
  }
}

/// Adds bytes to 16-bit sums: a vector's even bytes to the first half, its odd ones to the second.
template <std::size_t kCount>
HWY_INLINE void widen(const hn::Vec<ByteTag> (&bytes)[kCount], std::uint16_t* sums) {
  const ShortTag d;
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kCount; ++v) {
    const auto pairs = hn::BitCast(d, bytes[v]);
    std::uint16_t* const even = sums + v * kBytes;
    std::uint16_t* const odd = even + kBytes / 2;
    hn::Store(hn::Add(hn::Load(d, even), hn::And(pairs, hn::Set(d, 0xFF))), d, even);
    hn::Store(hn::Add(hn::Load(d, odd), hn::ShiftRight<8>(pairs)), d, odd);
  }
}

/// Adds to the 16-bit sums of kRows rows of a, those of a row after those of the row before.
template <std::size_t kRows, std::size_t kVectors>
HWY_INLINE void count_rows(const std::byte* a, std::size_t a_stride, const std::uint8_t* panel,
                           std::size_t words, std::uint16_t* sums) {
  for (std::size_t w = 0; w < words; w += kByteWords) {
    const std::byte* rows[kRows];
    for (std::size_t r = 0; r < kRows; ++r) rows[r] = a + r * a_stride + w * sizeof(Word);
    hn::Vec<ByteTag> bytes[kRows * kVectors];
    count_bytes<kRows, kVectors>(rows, panel + w * kNibbles * kPanelRows,
                                 std::min(kByteWords, words - w), bytes);
    widen(bytes, sums);
  }
}

/// A part of a panel for rows of a. One row has its nibbles looked up from memory; where registers
/// are left, two share them.
template <std::size_t kVectors>
HWY_INLINE void count_part(const std::byte* a, std::size_t a_stride, std::size_t rows,
                           const std::uint8_t* panel, std::size_t words, std::uint16_t* sums) {
  constexpr std::size_t kRows = kVectors <= 2 ? 2 : 1;
  std::size_t i = 0;
  for (; i + kRows <= rows; i += kRows)
    count_rows<kRows, kVectors>(a + i * a_stride, a_stride, panel, words,
                                sums + i * kVectors * kBytes);
  for (; i < rows; ++i)
    count_rows<1, kVectors>(a + i * a_stride, a_stride, panel, words, sums + i * kVectors * kBytes);
}

HWY_INLINE void add_sums(const std::uint16_t* sums, std::size_t columns, int shift,
                         std::int32_t* counts) {
  const CountTag d;
  std::size_t j = 0;
  for (; j + kCounts <= columns; j += kCounts) {
    const auto more = hn::PromoteTo(d, hn::Load(hn::Rebind<std::uint16_t, CountTag>(), sums + j));
    hn::StoreU(hn::Add(hn::LoadU(d, counts + j), hn::ShiftLeftSame(more, shift)), d, counts + j);
  }
  for (; j < columns; ++j) counts[j] += sums[j] << shift;
}

template <std::size_t kVectors>
void count_panel(const BitRows& a, std::size_t at, const std::uint8_t* panel, std::size_t words,
                 int shift, std::size_t columns, std::int32_t* counts, std::size_t counts_stride) {
  constexpr std::size_t kWidth = kVectors * kBytes;
  alignas(64) std::uint16_t sums[kBlockRows * kWidth];
  for (std::size_t first = 0; first < a.rows; first += kBlockRows) {
    const std::size_t rows = std::min(kBlockRows, a.rows - first);
    std::memset(sums, 0, rows * kWidth * sizeof *sums);
    for (std::size_t w = 0; w < words; w += kPartWords)
      count_part<kVectors>(a.first + first * a.stride + at + w * sizeof(Word), a.stride, rows,
                           panel + w * kNibbles * kPanelRows, std::min(kPartWords, words - w),
                           sums);
    for (std::size_t i = 0; i < rows; ++i)
      add_sums(sums + i * kWidth, columns, shift, counts + (first + i) * counts_stride);
  }
}

/// Word by word: for so few rows that a panel is not worth its making.
void count_few(const BitRows& a, const BitRows& b, std::size_t words, int shift,
               std::int32_t* counts, std::size_t counts_stride) {
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.rows; ++j) {
      const std::byte *x = a.first + i * a.stride, *y = b.first + j * b.stride;
      std::int32_t count = 0;
      for (std::size_t w = 0; w < 8 * words; w += 8)
        count += std::popcount(load_word(x + w) ^ load_word(y + w));
      counts[i * counts_stride + j] += count << shift;
    }
}

HWY_ATTR void AddXorCounts(const BitRows& a, const BitRows& b, std::size_t words, int shift,
                           std::int32_t* counts, std::size_t counts_stride) {
  constexpr std::size_t kFew = 4;
  if (a.rows < kFew || b.rows < kFew) return count_few(a, b, words, shift, counts, counts_stride);
  alignas(64) std::uint8_t panel[kPanelWords * kNibbles * kPanelRows];
  constexpr std::size_t kMost = kPanelRows / kBytes;
  for (std::size_t first = 0; first < b.rows; first += kPanelRows)
    for (std::size_t w = 0; w < words; w += kPanelWords) {
      const std::size_t some = std::min(kPanelWords, words - w), at = w * sizeof(Word);
      const std::size_t columns = std::min(kPanelRows, b.rows - first);
      fill_panel(b, first, columns, at, some, panel);
      const auto count = columns > kPanelRows / 2   ? count_panel<kMost>
                         : columns > kPanelRows / 4 ? count_panel<(kMost + 1) / 2>
                                                    : count_panel<(kMost + 3) / 4>;
      count(a, at, panel, some, shift, columns, counts + first, counts_stride);
    }
}

#else

// A panel has a word of 8 rows of b side by side; lane j counts for row j.
inline constexpr std::size_t kPanelRows = 8;
inline constexpr std::size_t kPanelWords = 32;  // 16 KiB

using WordsTag = hn::CappedTag<Word, kPanelRows>;
inline constexpr std::size_t kLanes = hn::MaxLanes(WordsTag());
inline constexpr std::size_t kVectors = kPanelRows / kLanes;

void fill_panel(const BitRows& b, std::size_t first, std::size_t rows, std::size_t at,
                std::size_t words, Word* panel) {
  std::memset(panel, 0, words * kPanelRows * sizeof *panel);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t w = 0; w < words; ++w)
      panel[w * kPanelRows + j] =
          load_word(b.first + (first + j) * b.stride + at + w * sizeof(Word));
}

/// Rows at a time hide the latency of the additions and share the panel's loads.
template <std::size_t kRows>
HWY_INLINE void count_rows(const std::byte* a, std::size_t a_stride, const Word* panel,
                           std::size_t words, int shift, std::size_t columns, std::int32_t* counts,
                           std::size_t counts_stride) {
  const WordsTag d;
  hn::Vec<WordsTag> sums[kRows * kVectors];
#pragma GCC unroll 16
  for (auto& sum : sums) sum = hn::Zero(d);
  for (std::size_t w = 0; w < words; ++w) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto b = hn::Load(d, panel + w * kPanelRows + v * kLanes);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto bits = hn::Xor(b, hn::Set(d, load_word(a + r * a_stride + w * sizeof(Word))));
        auto& sum = sums[r * kVectors + v];
        sum = hn::Add(sum, hn::PopulationCount(bits));
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    alignas(64) Word row[kPanelRows];
    for (std::size_t v = 0; v < kVectors; ++v)
      hn::Store(sums[r * kVectors + v], d, row + v * kLanes);
    for (std::size_t j = 0; j < columns; ++j)
      counts[r * counts_stride + j] += static_cast<std::int32_t>(row[j] << shift);
  }
}

HWY_ATTR void AddXorCounts(const BitRows& a, const BitRows& b, std::size_t words, int shift,
                           std::int32_t* counts, std::size_t counts_stride) {
  constexpr std::size_t kRows = kLanes >= 8 ? 8 : 4;
  alignas(64) Word panel[kPanelWords * kPanelRows];
  for (std::size_t first = 0; first < b.rows; first += kPanelRows)
    for (std::size_t w = 0; w < words; w += kPanelWords) {
      const std::size_t some = std::min(kPanelWords, words - w), at = w * sizeof(Word);
      const std::size_t columns = std::min(kPanelRows, b.rows - first);
      fill_panel(b, first, columns, at, some, panel);
      const auto count = [&](std::size_t i) HWY_ATTR {
        return std::pair{a.first + i * a.stride + at, counts + i * counts_stride + first};
      };
      std::size_t i = 0;
      for (; i + kRows <= a.rows; i += kRows)
        count_rows<kRows>(count(i).first, a.stride, panel, some, shift, columns, count(i).second,
                          counts_stride);
      for (; i < a.rows; ++i)
        count_rows<1>(count(i).first, a.stride, panel, some, shift, columns, count(i).second,
                      counts_stride);
    }
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(AddXorCounts);

void add_xor_counts(const BitRows& a, const BitRows& b, std::size_t words, int shift,
                    std::int32_t* counts, std::size_t counts_stride) {
  HWY_DYNAMIC_DISPATCH(AddXorCounts)(a, b, words, shift, counts, counts_stride);
}

}  // namespace gradwire::compressors::kernels
#endif
