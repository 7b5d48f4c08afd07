#pragma once
#include <cstdint>
#include <limits>

#include "sim/cluster/cluster.h"

/// How a TCP sender's congestion window grows and shrinks: CUBIC (RFC 8312, with HyStart: Ha and
/// Rhee 2011) and Reno (RFC 5681), in whole segments and with the integer arithmetic of the kernels
/// that the packet executor's ns-3 3.44 follows.
///
/// W = window in segments, m = W_max, C = 0.4, beta = 0.7.
///     slow start     W += acknowledged segments, while W < threshold (byte counting, RFC 3465)
///     CUBIC          one segment for every max(2, min(W / (target - W), W / (friendly - W)))
///                    acknowledged ones, target = m +- trunc(C |t - K|^3), K = cbrt((m - W) / C),
///                    t = time since the epoch began + least round trip; no m yet: every 20
///     friendly       + 1 for every 15 W / 8 acknowledged (Reno's rate at beta 0.7)
///     Reno           one segment for every W acknowledged
///     a loss         threshold = max(2, beta W);  m = W, or W (1 + beta) / 2 if W < m
///     HyStart        from 16 segments on, slow start ends when a train of acknowledgements no more
///                    than 2 ms apart has lasted longer than the least round trip, or when the
///                    round trip has grown by max(4 ms, least round trip). (TcpConstants has these
///                    numbers.)
/// A window grows nothing where the sender does not fill it, but Reno's in ns-3 3.44 in slow start.
namespace gradwire::sim {

class CongestionWindow {
 public:
  explicit CongestionWindow(const TransportSettings& transport);

  /// What a loss leaves of the window.
  static double beta(const TransportSettings& transport);

  const TcpConstants& constants() const { return *constants_; }
  std::int64_t size() const { return size_; }  ///< bytes
  std::int64_t segments() const { return size_ / segment_; }
  void set_size(std::int64_t bytes) { size_ = bytes; }
  std::int64_t threshold() const { return threshold_; }  ///< bytes
  /// Whether the segment that was sent last filled the window.
  void set_limited(bool limited) { limited_ = limited; }

  /// Segments were acknowledged; `round_trip`: the smoothed one, s.
  void acknowledged(double now, double round_trip);
  /// HyStart's round ends where all is acknowledged that was sent when it began. Call before
  /// acknowledged(). Linux looks whether or not the window is filled.
  void end_round(double now, std::int64_t last, std::int64_t sent) {
    if (cubic_ && !found_ && size_ < threshold_ && last > round_end_) start_round(now, sent);
  }
  /// The window may grow. `last`: bytes of the stream acknowledged, `sent`: sent so far.
  void grow(double now, std::int64_t segments, std::int64_t last, std::int64_t sent);
  /// A loss: a lower threshold, and another epoch.
  void cut();
  /// Whether bbr.h sets the window: what acknowledgements and losses say here is void.
  bool is_paced() const { return paced_; }
  /// Whether the window is below the threshold.
  bool is_starting() const { return size_ < threshold_; }
  /// After silence of so long (s), which the epoch does not count.
  void skip(double idle) {
    if (epoch_ != kUnknown) epoch_ += idle;
  }
  /// A smaller window after silence; the threshold remembers the one before.
  void restart(std::int64_t bytes);
  /// Only `used` bytes of the window were: it shrinks half the way (RFC 2861).
  void waste(std::int64_t used);
  /// A retransmission timeout, after cut(): one segment, and all that was learnt is forgotten.
  void collapse(double now, std::int64_t sent);

 private:
  static constexpr double kUnknown = -std::numeric_limits<double>::infinity();

  void start_round(double now, std::int64_t sent);
  void watch_trains(double now, double round_trip);
  void grow_by(std::int64_t acked, std::int64_t each);
  std::int64_t remembered_acks(double now, std::int64_t acked);
  std::int64_t acks_per_segment(double now, std::int64_t acked);
  std::int64_t cubic_target(double now) const;
  void begin_epoch(double now, std::int64_t acked);

  const TcpConstants* constants_;  ///< shared
  std::int64_t segment_;
  std::int64_t size_;
  std::int64_t threshold_ = std::numeric_limits<std::int64_t>::max();
  bool cubic_;
  bool paced_;
  bool limited_ = false;
  bool found_ = false;        ///< HyStart has ended slow start
  int samples_ = 0;           ///< of HyStart's round
  std::int64_t counted_ = 0;  ///< acknowledged segments towards the next one
  // CUBIC
  std::int64_t maximum_ = 0;  ///< W_max, segments; 0 = no loss yet
  std::int64_t origin_ = 0;
  std::int64_t friendly_ = 0;  ///< segments
  std::int64_t friendly_counted_ = 0;
  double plateau_ = 0;          ///< K, s
  std::int64_t looked_at_ = 0;  ///< window for which needed_ was found, segments
  double looked_ = 0;           ///< s: when needed_ was found
  std::int64_t needed_ = 0;     ///< acknowledged segments for one
  double epoch_ = kUnknown;
  double least_round_trip_ = kUnknown;
  // HyStart
  double round_start_ = kUnknown;
  double last_ack_ = kUnknown;
  double round_least_ = kUnknown;  ///< round trip of this round
  std::int64_t round_end_ = 0;     ///< bytes of the stream
};

}  // namespace gradwire::sim
