#pragma once
#include <span>

#include "sim/cluster/cluster.h"

namespace gradwire::sim {

/// Alpha-beta constants of one path, in seconds and bytes. A lone transfer of w wire bytes, whose
/// first segment has f of them, takes
///     propagation + forwarding * f + w / line_rate
/// : the bytes leave the slowest channel one after the other, and one segment is stored and
/// forwarded by each other hop.
struct PathCost {
  double line_rate = 0;    ///< bytes a second, of the slowest channel
  double propagation = 0;  ///< s
  double forwarding = 0;   ///< s a byte of the first segment, over the hops but the slowest

  PathCost(const Cluster& cluster, std::span<const ChannelId> route);
  bool operator==(const PathCost&) const = default;

  /// Seconds of a lone transfer; `segment`: wire bytes of a full one.
  double seconds(double wire, double segment) const {
    return propagation + forwarding * (wire < segment ? wire : segment) + wire / line_rate;
  }
};

}  // namespace gradwire::sim
