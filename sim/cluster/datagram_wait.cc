#include "sim/cluster/datagram_wait.h"

namespace gradwire::sim {
namespace {

constexpr double kShortQueue = 0.1;  // s that CoDel lets a packet wait, and then some

}  // namespace

Seconds datagram_wait(const Cluster& cluster, std::span<const ChannelId> route,
                      const TransportSettings& transport) {
  if (transport.deadline) return *transport.deadline;
  double wait = 0;
  for (const ChannelId id : route) {
    const auto queue = static_cast<double>(cluster.channel(id).queue.count());
    wait += queue > 0 ? 8 * queue / cluster.nominal_rate(id).value() : kShortQueue;
  }
  return Seconds(wait);
}

}  // namespace gradwire::sim
