#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/philox.h"

namespace gradwire::sim {

/// Delays of the packets of one channel: uniform draws, the k-th packet's the same whoever's it is,
/// and none overtakes another:
///     arrives(k) = max(ends(k) + jitter(k), arrives(k - 1))
class ChannelJitter {
 public:
  ChannelJitter() = default;
  /// At most `most` s.
  ChannelJitter(double most, const RandomStream& draws) : most_(most), draws_(draws) {}

  /// When the next packet arrives, but for the distance, which is through at `ends`, s.
  double arrival(double ends) {
    if (most_ <= 0) return ends;
    last_ = std::max(last_, ends + most_ * static_cast<double>(uniform(draws_, drawn_++)));
    return last_;
  }

 private:
  double most_ = 0;
  RandomStream draws_{};
  std::uint64_t drawn_ = 0;
  double last_ = -std::numeric_limits<double>::infinity();
};

}  // namespace gradwire::sim
