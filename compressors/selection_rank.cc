#include "compressors/selection_rank.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "compressors/kernels/select.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kBins = 2048;
constexpr std::size_t kShared = 16384;  // least values worth a thread

using Bins = std::array<std::uint32_t, kBins>;

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
    for (std::size_t i = 0; i < kBins; ++i) bins[i] += own[i];
  });
}

}  // namespace

// Counts in 2,048 bins, then in the bin that holds it, until a bin is one magnitude wide.
Bound rank_magnitude(ThreadTeam* team, std::span<const float> values, std::size_t rank,
                     std::uint32_t low, std::uint32_t high) {
  Bins bins;
  for (;;) {
    int shift = 0;
    while ((high - low) >> shift >= kBins) ++shift;
    count(team, values, {low, high, shift}, bins);
    std::size_t bin = kBins;
    while (bins[--bin] < rank) rank -= bins[bin];
    low += static_cast<std::uint32_t>(bin) << shift;
    if (shift == 0) return {low, rank};
    high = std::min(high, low + ((1u << shift) - 1u));
  }
}

}  // namespace gradwire::compressors
