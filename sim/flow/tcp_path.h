#pragma once
#include <cstdint>
#include <limits>
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
/// Window. A round lasts r0 and may send W bytes; when they are sent before it is over, the sender
/// waits. A fresh connection has W = 10 segments. A round that used at least half of W (a round
/// that used all of it, once slow start is over) lets W grow:
///     slow start             W += bytes of the round; less one segment the first time (10, 19, 38)
///     CUBIC after slow start W *= 1.05            Reno: W += S
/// Slow start ends when a round fills the pipe (its bytes take r0 or longer), and under CUBIC,
/// where r0 <= 2 ms, at 16 segments: HyStart takes acknowledgements less than 2 ms apart for one
/// train and leaves falsely. W never passes the socket buffers. A window of two pipes no longer
/// limits a transfer, nor does one of a pipe at the line rate. W stays between transfers (ns-3 has
/// no slow start after idle).
///
/// Loss. p = 1 - product of (1 - p_i), per segment, in the direction of the data (a lost
/// acknowledgement is covered by the next). The first loss of a connection strikes at a
/// geometrically drawn segment; from then on the rate is capped at the response function's W(p) S /
/// r0,
///     CUBIC  W(p) = max(1.25 / sqrt p, 1.054 (r0 / p)^(3/4))   (RFC 8312, eq. 5, r0 in seconds)
///     Reno   W(p) = 1.5 / sqrt p
/// Each transfer of n segments further draws
///   - how many segments are sent again: Poisson(n p), sent on top of its bytes;
///   - timeouts of max(200 ms, 1.5 r0) 2^b, b geometric in p, plus a slow start of r0 log2 W(p):
///   once
///     there was a loss, a Poisson process of 0.85 p^2 a segment (a retransmission lost again),
///     each of which stops the connection; and with probability 1 - (1-p)^2 one at the transfer's
///     end (too few duplicate ACKs behind its last segments), which delays its delivery;
///   - with probability 1 - (1-p)^min(n, W(p)), one more r0 at its end: the last window's repair.
/// Draws are Philox words keyed by (seed, connection, transfer number): the order of events of
/// other connections cannot change them.
///
/// Where it breaks down. No losses by full queues (slow start's overshoot), no unfairness of RTTs,
/// no recovery rounds, no relaxation from slow start's window to W(p), handshakes come before the
/// run, no acknowledgement timer (ns-3: + 12-17 % for 100 kB over 80 ms). docs/network.md has the
/// table.
namespace gradwire::sim {

inline constexpr double kCubicGrowth = 1.05;       ///< a round, before any loss (ns-3 and Linux)
inline constexpr double kHystartSegments = 16;     ///< HyStart's low window
inline constexpr double kHystartRoundTrip = 2e-3;  ///< s; its spacing of an ACK train
inline constexpr double kRenoFriendly = 1.25;      ///< CUBIC in its Reno-friendly region
inline constexpr double kCubicResponse = 1.054;    ///< RFC 8312, C = 0.4, beta = 0.7
inline constexpr double kRenoResponse = 1.5;
inline constexpr double kLostAgain = 0.85;         ///< timeouts a segment, over p^2
inline constexpr int kTailSegments = 2;            ///< whose loss only a timeout repairs
inline constexpr double kTimeoutRoundTrips = 1.5;  ///< RTO is at least this many r0
inline constexpr double kOpenPipes = 2;            ///< windows of so many pipes limit nothing
inline constexpr double kSegmentsPerAck = 2;

/// The constants of one path.
struct TcpPath : PathCost {
  double round_trip = 0;  ///< r0, s
  double loss = 0;        ///< p
  double response = 0;    ///< W(p), segments; infinite for p = 0

  /// Throws Error(kCapability) for congestion control that it does not model (BBR).
  TcpPath(const Cluster& cluster, std::span<const ChannelId> route,
          const TransportSettings& transport);
};

/// Wire bytes of acknowledgements over wire bytes of data.
double ack_share(const TransportSettings& transport);

/// The congestion window of a connection before its first loss, in wire bytes.
class TcpWindow {
 public:
  TcpWindow(const TcpPath& path, const TransportSettings& transport);

  /// May send this much before the round's end.
  double left() const { return left_; }
  double round_end() const { return round_end_; }
  /// Bytes were sent.
  void use(double bytes) { left_ -= bytes; }
  /// A transfer begins at `now`: goes on in the running round or opens a new one.
  void begin(double now);
  /// The running round is over (all of it sent, or its time gone): opens the next at `now`. `rate`:
  /// the connection's present share, bytes a second.
  void next_round(double now, double rate);
  /// It limits nothing until the next begin() (a loss has happened, or the pipe is full).
  void open() { left_ = std::numeric_limits<double>::infinity(); }
  double size() const { return size_; }

 private:
  void grow(double used, double rate);

  double segment_;
  double line_rate_;
  double round_trip_;
  double limit_;
  double size_;
  double left_ = 0;
  double round_end_ = -1;
  bool cubic_;
  bool slow_start_ = true;
  bool first_round_ = true;
};

/// What chance does to one transfer.
class LossDraws {
 public:
  LossDraws() = default;
  LossDraws(std::uint64_t seed, std::uint32_t connection, std::uint32_t transfer);

  /// Segments sent well before the first lost one; infinite for p = 0.
  double first_loss(double p);
  std::int64_t retransmissions(double segments, double p);
  /// Segments until the next timeout.
  double next_timeout(double p);
  double timeout_duration(const TcpPath& path, const TransportSettings& transport);
  bool happens(double probability) { return draw() < probability; }

 private:
  double draw();
  /// Exponential with mean 1.
  double exponential();
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

}  // namespace gradwire::sim
