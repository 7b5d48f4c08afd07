#include "compressors/selection_rank.h"

#include <algorithm>
#include <functional>
#include <mutex>

#include "compressors/arithmetic/bits.h"
#include "compressors/kernels/select.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kFew = 128;       // fewer than the bins that would have to be cleared
constexpr std::size_t kShared = 16384;  // least values worth a thread

}  // namespace

RankedMagnitudes::RankedMagnitudes(ThreadTeam* team, std::span<const float> values,
                                   std::uint32_t low, std::uint32_t high)
    : team_(team), values_(values), all_(interval(low, high)) {
  if (!few()) count(all_, bins_);
}

bool RankedMagnitudes::few() const {
  return values_.size() <= kFew;
}

RankedMagnitudes::Interval RankedMagnitudes::interval(std::uint32_t low, std::uint32_t high) {
  int shift = 0;
  while ((high - low) >> shift >= kBins) ++shift;
  return {low, high, shift};
}

void RankedMagnitudes::count(const Interval& interval, Bins& bins) const {
  bins.fill(0);
  std::mutex adding;
  for_ranges(team_, values_.size(), 16, kShared, [&](std::size_t begin, std::size_t end) {
    const auto count_into = [&](Bins& counts) {
      kernels::count_magnitudes(values_.data() + begin, end - begin, interval.low, interval.high,
                                interval.shift, counts.data());
    };
    if (end - begin == values_.size()) return count_into(bins);
    Bins own{};
    count_into(own);
    const std::lock_guard lock(adding);
    for (std::size_t i = 0; i < kBins; ++i) bins[i] += own[i];
  });
}

/// Sorts them.
Bound RankedMagnitudes::at_of_few(std::size_t rank) const {
  std::array<std::uint32_t, kFew> keys;
  std::size_t found = 0;
  for (const float value : values_)
    if (const std::uint32_t key = magnitude_bits(value); key >= all_.low && key <= all_.high)
      keys[found++] = key;
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(found);
  const auto ranked = keys.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(keys.begin(), ranked, end, std::greater<>());
  const std::uint32_t magnitude = *ranked;
  const auto above = std::count_if(keys.begin(), end, [&](auto key) { return key > magnitude; });
  return {magnitude, rank - static_cast<std::size_t>(above)};
}

Bound RankedMagnitudes::at(std::size_t rank) const {
  if (few()) return at_of_few(rank);
  Interval its = all_;
  const Bins* bins = &bins_;
  Bins own;
  for (;;) {
    std::size_t bin = kBins;
    while ((*bins)[--bin] < rank) rank -= (*bins)[bin];
    const std::uint32_t low = its.low + (static_cast<std::uint32_t>(bin) << its.shift);
    if (its.shift == 0) return {low, rank};
    its = interval(low, std::min(its.high, low + ((1u << its.shift) - 1u)));
    count(its, own);
    bins = &own;
  }
}

}  // namespace gradwire::compressors
