#include "compressors/codecs/sz/sz_symbols.h"

#include <algorithm>
#include <atomic>

#include "compressors/codecs/sz/lorenzo.h"
#include "compressors/codecs/sz/symbol_counts.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

static_assert(kernels::kRunClasses == kSzRunClasses + 1 && kSzChunk <= 64 * 64);

std::uint16_t symbol_of_first(const SzCodes& codes) {
  return lorenzo_symbol(static_cast<std::uint32_t>(codes.codes[0]), codes.radius);
}

void flat_symbols(const SzCodes& codes, std::size_t begin, std::size_t end,
                  std::uint16_t* symbols) {
  if (begin == 0 && end > 0) {
    *symbols++ = symbol_of_first(codes);
    ++begin;
  }
  kernels::symbols_1d(codes.codes + begin, end - begin, codes.radius, symbols);
}

// The first row is one-dimensional; the first column has neighbours above only.
void plane_symbols(const SzCodes& codes, std::size_t begin, std::size_t end,
                   std::uint16_t* symbols) {
  const std::size_t columns = codes.columns;
  const std::size_t inner = std::clamp(columns + 1, begin, end);
  if (begin < inner) flat_symbols(codes, begin, inner, symbols);
  if (inner < end)
    kernels::symbols_2d(codes.codes + inner, columns, end - inner, codes.radius,
                        symbols + (inner - begin));
  const std::size_t row = std::max<std::size_t>((begin + columns - 1) / columns, 1);
  for (std::size_t i = row * columns; i < end; i += columns) {
    const auto here = static_cast<std::uint32_t>(codes.codes[i]);
    const auto above = static_cast<std::uint32_t>(codes.codes[i - columns]);
    symbols[i - begin] = lorenzo_symbol(here - above, codes.radius);
  }
}

/// Counts of one thread's elements, added to the common ones at the end: sums of whole numbers
/// come out the same in any order.
void count_range(const SzCodes& codes, std::size_t begin, std::size_t end, SzCounts& counts) {
  std::uint32_t tables[4 * 2 * kSzLargestRadius];
  std::uint32_t runs[kSzRunClasses + 1] = {};
  const std::size_t alphabet = counts.symbols.size();
  std::fill_n(tables, 4 * alphabet, 0u);
  for (std::size_t at = begin; at < end; at += kSzChunk) {
    const std::size_t count = std::min(kSzChunk, end - at);
    std::uint16_t symbols[kSzChunk];
    std::uint64_t mask[kSzChunk / 64];
    sz_symbols(codes, at, count, symbols);
    kernels::count_symbols(symbols, count, alphabet, tables);
    kernels::equal_mask(symbols, count, static_cast<std::uint16_t>(codes.radius), mask);
    kernels::count_runs(mask, (count + 63) / 64, runs);
  }
  const auto add = [](std::uint32_t& sum, std::uint32_t part) {
    if (part != 0) std::atomic_ref(sum).fetch_add(part, std::memory_order_relaxed);
  };
  for (std::size_t s = 0; s < alphabet; ++s) {
    const std::uint32_t* own = tables + s;
    add(counts.symbols[s], own[0] + own[alphabet] + own[2 * alphabet] + own[3 * alphabet]);
  }
  for (std::size_t c = 0; c <= kSzRunClasses; ++c) add(counts.runs[c], runs[c]);
}

}  // namespace

void sz_symbols(const SzCodes& codes, std::size_t begin, std::size_t count,
                std::uint16_t* symbols) {
  if (codes.predictor == 0)
    kernels::symbols_plain(codes.codes + begin, count, codes.radius, symbols);
  else if (codes.predictor == 1)
    flat_symbols(codes, begin, begin + count, symbols);
  else
    plane_symbols(codes, begin, begin + count, symbols);
}

void count_sz_symbols(const SzCodes& codes, ThreadTeam* team, SzCounts& counts) {
  std::fill(counts.symbols.begin(), counts.symbols.end(), 0u);
  std::fill(std::begin(counts.runs), std::end(counts.runs), 0u);
  for_ranges(team, codes.n, kSzChunk, kRangeElements,
             [&](std::size_t begin, std::size_t end) { count_range(codes, begin, end, counts); });
}

}  // namespace gradwire::compressors
