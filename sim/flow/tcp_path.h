#pragma once
#include <cstdint>
#include <span>

#include "base/philox.h"
#include "sim/cluster.h"
#include "sim/path_cost.h"

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
/// The window that a connection may send in a round trip is sim/flow/tcp_window.h's.
///
/// Loss. p = 1 - product of (1 - p_i), per segment, in the direction of the data (a lost
/// acknowledgement is covered by the next). The gap from one lost segment of a transfer to the next
/// is geometric:  P(gap = g) = p (1-p)^g, so that a transfer of n segments loses none with
/// probability (1-p)^n, n p of them on average. A transfer that loses none is as fast as its window
/// lets it be on a clean path. What a loss costs is in sim/flow/flow_losses.cc:
///   lost at         t = when the bottleneck begins to send the segment
///   three later segments sent by t3:  sent again at t3 + r0 - 2 s (the third duplicate ACK)
///   else            RTO after the last acknowledgement, which came at t + r0 - 2 s (or when the
///                   segment lost before it was repaired); one segment alone before it in its pair
///                   is acknowledged 40 ms later
///   sent again      it is lost again with p, and then a timeout repairs it (ns-3 3.44 has no RACK)
///   timeout         RTO = max(200 ms, 1.5 r0), doubled for each one that failed; the segments lost
///                   with it follow one, two, four a round trip
/// Later segments go on meanwhile, as far as the window lets them, and of later transfers too:
/// their duplicate acknowledgements repair the end of an earlier one. Delivery is in order: a
/// transfer is delivered when no segment up to its end is missing.
/// Draws are Philox words keyed by (seed, connection, transfer number), of retransmissions by
/// (seed, connection, segment number): the order of events of other connections cannot change
/// them.
///
/// Where it breaks down. No losses by full queues (slow start's overshoot), no unfairness of RTTs,
/// handshakes come before the run, a lost last acknowledgement causes no timeout, no
/// acknowledgement timer but before a timeout (ns-3: + 12-17 % for 100 kB over 80 ms).
/// docs/network.md has the table.
namespace gradwire::sim {

inline constexpr double kTimeoutRoundTrips = 1.5;  ///< RTO is at least this many r0
inline constexpr int kDuplicateAcks = 3;           ///< that many later segments show a loss
inline constexpr double kSegmentsPerAck = 2;

/// The constants of one path.
struct TcpPath : PathCost {
  double round_trip = 0;    ///< r0, s
  double loss = 0;          ///< p
  double ack_loss = 0;      ///< of an acknowledgement
  double segment_time = 0;  ///< s, of a full segment on the slowest channel
  double second_hop = 0;    ///< s a byte, of the slowest channel but one
  double ack_latency = 0;   ///< s: of an acknowledgement
  double queue = 0;         ///< bytes of the slowest channel's drop-tail queue; 0: CoDel

  /// Throws Error(kCapability) for congestion control that it does not model (BBR).
  TcpPath(const Cluster& cluster, std::span<const ChannelId> route,
          const TransportSettings& transport);
};

/// Wire bytes of acknowledgements over wire bytes of data.
double ack_share(const TransportSettings& transport);

/// What chance does to the segments of one transfer.
class LossDraws {
 public:
  LossDraws() = default;
  LossDraws(std::uint64_t seed, std::uint32_t connection, std::uint32_t transfer);

  /// Segments that arrive before the next lost one; 0 < p < 1.
  double gap(double p);

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

/// Whether retransmission number `attempt` (from 0) of a connection's segment is lost too.
bool lost_again(std::uint64_t seed, std::uint32_t connection, std::uint64_t segment,
                std::uint32_t attempt, double p);

}  // namespace gradwire::sim
