#include "sim/cluster/path_cost.h"

#include <algorithm>

namespace gradwire::sim {

PathCost::PathCost(const Cluster& cluster, std::span<const ChannelId> route) {
  double slowest = 0;  // s a byte
  for (const ChannelId id : route) {
    const LinkSpec& channel = cluster.channel(id);
    const double per_byte = 8 / cluster.nominal_rate(id).value();
    propagation += channel.delay.value();
    forwarding += per_byte;
    slowest = std::max(slowest, per_byte);
  }
  forwarding -= slowest;
  line_rate = 1 / slowest;
}

}  // namespace gradwire::sim
