#include "compressors/selection_rank.h"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>

#include "compressors/arithmetic/bits.h"
#include "compressors/kernels/select.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kRankBins = 2048;
constexpr std::size_t kFew = 128;
constexpr std::size_t kShared = 16384;  // least values worth a thread

using Bins = std::array<std::uint32_t, kRankBins>;

struct Interval {
  std::uint32_t low, high;
  int shift;  ///< a bin is 2^shift magnitudes wide
};

void count(ThreadTeam* team, std::span<const float> values, const Interval& interval, Bins& bins) {
  bins.fill(0);
  std::mutex adding;
  for_ranges(team, values.size(), 16, kShared, [&](std::size_t begin, std::size_t end) {
    const auto count_into = [&](Bins& counts) {
      kernels::count_magnitudes(values.data() + begin, end - begin, interval.low, interval.high,
                                interval.shift, counts.data());
    };
    if (end - begin == values.size()) return count_into(bins);
    Bins own{};
    count_into(own);
    const std::lock_guard lock(adding);
    for (std::size_t i = 0; i < kRankBins; ++i) bins[i] += own[i];
  });
}

/// Sorts them: fewer than the bins that would have to be cleared.
Bound rank_of_few(std::span<const float> values, std::size_t rank, std::uint32_t low,
                  std::uint32_t high) {
  std::array<std::uint32_t, kFew> keys;
  std::size_t found = 0;
  for (const float value : values)
    if (const std::uint32_t key = magnitude_bits(value); key >= low && key <= high)
      keys[found++] = key;
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(found);
  const auto ranked = keys.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(keys.begin(), ranked, end, std::greater<>());
  const std::uint32_t magnitude = *ranked;
  const auto above = std::count_if(keys.begin(), end, [&](auto key) { return key > magnitude; });
  return {magnitude, rank - static_cast<std::size_t>(above)};
}

}  // namespace

// Counts in 2,048 bins, then in the bin that holds it, until a bin is one magnitude wide.
Bound rank_magnitude(ThreadTeam* team, std::span<const float> values, std::size_t rank,
                     std::uint32_t low, std::uint32_t high) {
  if (values.size() <= kFew) return rank_of_few(values, rank, low, high);
  Bins bins;
  for (;;) {
    int shift = 0;
    while ((high - low) >> shift >= kRankBins) ++shift;
    count(team, values, {low, high, shift}, bins);
    std::size_t bin = kRankBins;
    while (bins[--bin] < rank) rank -= bins[bin];
    low += static_cast<std::uint32_t>(bin) << shift;
    if (shift == 0) return {low, rank};
    high = std::min(high, low + ((1u << shift) - 1u));
  }
}

}  // namespace gradwire::compressors
