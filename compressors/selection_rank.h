#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/thread_team.h"

namespace gradwire::compressors {

/// What a selection keeps: all magnitudes above one, and the first `ties` that equal it.
struct Bound {
  static constexpr std::size_t kAllTies = std::numeric_limits<std::size_t>::max();
  std::uint32_t magnitude = 0;  ///< bits
  std::size_t ties = 0;
};

/// Bounds of one set of values. They are counted in 2,048 bins once; for each rank, its bin is then
/// counted in as many until a bin is one magnitude wide. On any team the same.
class RankedMagnitudes {
 public:
  /// Of what lies in [low, high], in magnitude bits. `team` may be null; what is passed must
  /// outlive this.
  RankedMagnitudes(ThreadTeam* team, std::span<const float> values, std::uint32_t low,
                   std::uint32_t high);
  /// The bound that `rank` >= 1 of these values reach, the largest ones.
  Bound at(std::size_t rank) const;

 private:
  static constexpr std::size_t kBins = 2048;
  using Bins = std::array<std::uint32_t, kBins>;
  struct Interval {
    std::uint32_t low, high;
    int shift;  ///< a bin is 2^shift magnitudes wide
  };
  static Interval interval(std::uint32_t low, std::uint32_t high);
  void count(const Interval& interval, Bins& bins) const;
  Bound at_of_few(std::size_t rank) const;
  bool few() const;

  ThreadTeam* team_;
  std::span<const float> values_;
  Interval all_;
  Bins bins_;
};

}  // namespace gradwire::compressors
