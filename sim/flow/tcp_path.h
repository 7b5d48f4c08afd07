#pragma once
#include <cstdint>
#include <limits>
#include <span>

#include "base/philox.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/path_cost.h"

/// What `flow` knows of TCP: one connection over one path, in closed form.
///
/// Symbols. A path of k channels with rates R_i and propagation delays d_i; S = wire bytes of a
/// full segment (1,538), s_i = 8 S / R_i, s the largest of them; A = wire bytes of an
/// acknowledgement (90), one for two segments.
///     propagation  d  = sum d_i
///     latency      L  = d + (sum of s_i but the slowest hop's), with the first segment's own size:
///                       after the last byte left the bottleneck, the last segment arrives
///     round trip   r0 = 2 d + sum s_i + s + sum 8 A / R_i        (two segments, then the ACK)
///
/// What windows and losses make of it is in sim/flow/tcp/stream.h; docs/models/tcp.md has the table
/// of constants.
namespace gradwire::sim {

inline constexpr double kSegmentsPerAck = 2;

/// The channels on which acknowledgements of what takes `route` go back, the first one first.
inline std::vector<ChannelId> way_back(std::span<const ChannelId> route) {
  std::vector<ChannelId> back;
  for (auto id = route.rbegin(); id != route.rend(); ++id) back.push_back(*id ^ 1);
  return back;
}

/// The constants of one path.
struct TcpPath : PathCost {
  double round_trip = 0;      ///< r0, s
  double loss = 0;            ///< p
  double ack_loss = 0;        ///< of an acknowledgement
  double segment_time = 0;    ///< s, of a full segment on the slowest channel
  double second_hop = 0;      ///< s a byte, of the slowest channel but one that never changes
  double ack_latency = 0;     ///< s: of an acknowledgement
  double ack_spacing = 0;     ///< s: of an acknowledgement, on the slowest channel of its way
  double ack_a_byte = 0;      ///< s a byte of it
  double last_ack_hop = 0;    ///< s: of an acknowledgement, on its last channel
  double last_hop = 0;        ///< s a byte, on the last channel
  double gap_a_byte = 0;      ///< s a byte, over links that never change
  bool line_changes = false;  ///< the first of its slowest links does
  bool changes = false;       ///< a wire on the way changes its rate
  // The transport's, here for all streams of the path.
  std::int64_t initial_window = 0;  ///< bytes of payload
  std::int64_t buffer = 0;          ///< bytes
  double min_rto = 0;               ///< s
  double ticks_per_second = 0;

  /// Throws Error(kCapability) for congestion control that `flow` does not model (BBR by Linux's
  /// rules).
  TcpPath(const Cluster& cluster, std::span<const ChannelId> route,
          const TransportSettings& transport);
  bool operator==(const TcpPath&) const = default;
};

/// Whether its acknowledgements always decide when a connection sends.
bool waits_for_acks(const TcpPath& path, const TransportSettings& transport);

/// Wire bytes of acknowledgements over wire bytes of data.
double ack_share(const TransportSettings& transport);

/// A connection's stream of draws. Keys that fit into 32 bits are the generator's own; of larger
/// ones, of which networks of more than 46,340 hosts have some, the rest goes into the seed.
inline RandomStream connection_stream(std::uint64_t seed, std::uint32_t step, std::uint64_t key,
                                      std::uint32_t purpose) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ull;
  return {seed ^ ((key >> 32) * kOdd), step, static_cast<std::uint32_t>(key), purpose};
}

}  // namespace gradwire::sim
