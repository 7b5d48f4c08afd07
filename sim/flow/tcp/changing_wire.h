#pragma once
#include <limits>

#include "sim/flow/shares/rate_follower.h"

namespace gradwire::sim {

/// How long packets take over one channel that changes: the integral of its rate. A frame that is
/// on its way while the link is out waits, and goes on.
class ChangingWire {
 public:
  /// At the time 0.
  explicit ChangingWire(const RateFollower& follower) : follower_(follower) { follower_.seek(0); }

  /// s: when `bytes` that begin at `begin` are through; infinite: never. `begin` does not go back
  /// from call to call.
  double through(double begin, double bytes);

 private:
  RateFollower follower_;
  double begun_ = 0;  ///< s: the last one
};

}  // namespace gradwire::sim
