#pragma once
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

/// The bound that `rank` >= 1 of the values reach, the largest ones. Those values lie in
/// [low, high], in magnitude bits; ranks count from high downwards. On any team the same.
Bound rank_magnitude(ThreadTeam* team, std::span<const float> values, std::size_t rank,
                     std::uint32_t low, std::uint32_t high);

}  // namespace gradwire::compressors
