#include "sim/cluster/handshake.h"

#include <algorithm>
#include <vector>

#include "sim/cluster/link_kind.h"

namespace gradwire::sim {
namespace {

constexpr double kSynOptions = 4;  // bytes: more than of a plain packet

}  // namespace

Handshake handshake_of(const PathCost& path, double gap_a_byte, double headers) {
  const double per_byte = path.forwarding + 1 / path.line_rate;
  const double following = std::min(kFollowingBytes, headers) * gap_a_byte;
  const double plain = path.propagation + headers * per_byte - following;
  const double round_trip = 2 * (plain + kSynOptions * per_byte);
  return {round_trip, round_trip + plain};
}

double clock_at_start(const Cluster& cluster, const TransportSettings& transport) {
  if (cluster.host_count() < 2) return 0;
  std::vector<ChannelId> route;
  cluster.route(0, cluster.host_count() - 1, route);
  double gap_a_byte = 0;
  for (const ChannelId id : route)
    if (is_plain(cluster.link_of(id).spec)) gap_a_byte += 8 / cluster.nominal_rate(id).value();
  const auto headers = static_cast<double>((transport.wire_segment - transport.segment).count());
  return handshake_of(PathCost(cluster, route), gap_a_byte, headers).whole;
}

}  // namespace gradwire::sim
