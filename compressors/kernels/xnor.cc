#include "compressors/kernels/xnor.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/xnor.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Word = std::uint64_t;
using WordsTag = hn::CappedTag<Word, kPanelRows>;
inline constexpr std::size_t kLanes = hn::MaxLanes(WordsTag());
inline constexpr std::size_t kVectors = kPanelRows / kLanes;

HWY_INLINE Word load_word(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Rows of `a` against the panel: lane j counts for row j, so that nothing is summed across lanes.
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

HWY_ATTR void AddXorCounts(const std::byte* a, std::size_t a_stride, std::size_t rows,
                           const Word* panel, std::size_t words, int shift, std::size_t columns,
                           std::int32_t* counts, std::size_t counts_stride) {
  constexpr std::size_t kRows = kLanes >= 8 ? 8 : 4;
  std::size_t i = 0;
  for (; i + kRows <= rows; i += kRows)
    count_rows<kRows>(a + i * a_stride, a_stride, panel, words, shift, columns,
                      counts + i * counts_stride, counts_stride);
  for (; i < rows; ++i)
    count_rows<1>(a + i * a_stride, a_stride, panel, words, shift, columns,
                  counts + i * counts_stride, counts_stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(AddXorCounts);

void fill_panel(const std::byte* b, std::size_t b_stride, std::size_t rows, std::size_t words,
                std::uint64_t* panel) {
  std::memset(panel, 0, words * kPanelRows * sizeof *panel);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t w = 0; w < words; ++w)
      std::memcpy(panel + w * kPanelRows + j, b + j * b_stride + w * sizeof *panel, sizeof *panel);
}

void add_xor_counts(const std::byte* a, std::size_t a_stride, std::size_t rows,
                    const std::uint64_t* panel, std::size_t words, int shift, std::size_t columns,
                    std::int32_t* counts, std::size_t counts_stride) {
  HWY_DYNAMIC_DISPATCH(AddXorCounts)
  (a, a_stride, rows, panel, words, shift, columns, counts, counts_stride);
}

}  // namespace gradwire::compressors::kernels
#endif
