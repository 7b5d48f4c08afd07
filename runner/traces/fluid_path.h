#pragma once
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/shares/rate_follower.h"

namespace gradwire::runner {

/// Never waited for longer, s.
inline constexpr double kEndless_s = 1e5;

/// What crosses the links between two nodes as a fluid: at the slowest link's rate of the moment,
/// from their schedules, without anything of TCP.
class FluidPath {
 public:
  /// `cluster` must outlive it.
  FluidPath(const sim::Cluster& cluster, int from, int to);

  /// s, when `bytes` on the wire have passed that begin at `time`, which is not before the last
  /// one's.
  double pass(double time, double bytes);

 private:
  std::vector<sim::RateFollower> channels_;
};

}  // namespace gradwire::runner
