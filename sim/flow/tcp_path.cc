#include "sim/flow/tcp_path.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "sim/cluster/link_kind.h"
#include "sim/flow/shares/rate_follower.h"

namespace gradwire::sim {
namespace {

constexpr double kHardlyLess = 1 - 1e-9;

double header_bytes(const TransportSettings& transport) {
  return static_cast<double>((transport.wire_segment - transport.segment).count());
}

}  // namespace

TcpPath::TcpPath(const Cluster& cluster, std::span<const ChannelId> route,
                 const TransportSettings& transport)
    : PathCost(cluster, route) {
  if (transport.congestion_control == TransportSettings::CongestionControl::kBbr &&
      transport.constants.kernel_recovery) {
    throw Error(ErrorKind::kCapability, "simulate", "congestion control bbr as Linux has it",
                "the flow executor models ns-3's BBR only",
                "take calibration packet, or --executor emulator");
  }
  initial_window = transport.initial_window * transport.segment.count();
  buffer = transport.buffer.count();
  min_rto = transport.min_rto.value();
  ticks_per_second = std::round(1 / transport.constants.tick);
  const auto segment = static_cast<double>(transport.wire_segment.count());
  const double ack = header_bytes(transport);
  double kept = 1;
  bool line = false;
  for (const ChannelId id : route) {
    const LinkSpec& channel = cluster.channel(id);
    const double per_byte = 8 / cluster.nominal_rate(id).value();
    const bool wire = cluster.link_of(id).cell < 0;
    const bool follows = RateFollower::is_needed(cluster.link_of(id), id);
    changes = changes || (wire && follows);
    const bool steady = is_plain(cluster.link_of(id).spec);
    if (steady) gap_a_byte += per_byte;
    if (!line && per_byte * line_rate >= kHardlyLess) {
      line = true;
      line_changes = !steady;
    }
    const double per_byte_back = wire ? 8 / cluster.nominal_rate(id ^ 1).value() : per_byte;
    round_trip += 2 * channel.delay.value() + per_byte * (segment + ack);
    if (per_byte_back != per_byte) round_trip += (per_byte_back - per_byte) * ack;
    ack_spacing = std::max(ack_spacing, per_byte_back * ack);
    round_trip += channel.jitter.value();  // half of it each way, in the mean
    kept *= 1 - channel.mean_loss();
    ack_latency += channel.delay.value() + per_byte_back * ack;
    ack_a_byte += per_byte_back;
  }
  const ChannelId own = route.front();
  last_ack_hop = cluster.channel(own).delay.value() + 8 * ack / cluster.nominal_rate(own).value();
  last_hop = 8 / cluster.nominal_rate(route.back()).value();
  for (bool slowest = false; const ChannelId id : route) {
    const double per_byte = 8 / cluster.nominal_rate(id).value();
    if (!slowest && per_byte * line_rate >= kHardlyLess) {
      slowest = true;
    } else if (!RateFollower::is_needed(cluster.link_of(id), id)) {  // what it is now is not known
      second_hop = std::max(second_hop, per_byte);
    }
  }
  segment_time = segment / line_rate;
  round_trip += segment_time;
  loss = ack_loss = 1 - kept;
}

bool waits_for_acks(const TcpPath& path, const TransportSettings& transport) {
  // Its timer may go off while the acknowledgement of a last segment is delayed.
  const double delayed = transport.delayed_ack.value();
  if (delayed > 0 && !transport.constants.kernel_recovery &&
      transport.min_rto.value() < path.round_trip + delayed)
    return true;
  // They pass more slowly than the segments that they are for.
  if (path.ack_spacing > kSegmentsPerAck * path.segment_time) return true;
  // The buffer is less than what is under way on a free link.
  return static_cast<double>(transport.buffer.count()) < path.round_trip * path.line_rate;
}

double ack_share(const TransportSettings& transport) {
  return header_bytes(transport) /
         (kSegmentsPerAck * static_cast<double>(transport.wire_segment.count()));
}

}  // namespace gradwire::sim
