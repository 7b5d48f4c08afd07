#pragma once
#include <cstdint>
#include <limits>

#include "sim/flow/tcp/numbered_queue.h"

/// What a sender that follows Linux's rules knows beside the scoreboard (TcpConstants:
/// kernel_recovery; kernel_*.cc).
///
///     lost        = sent before the segment that arrived last of all that have arrived, by more
///                   than its round trip + w; w = 0 from three sacked segments on and in recovery,
///                   else min(least round trip / 4, smoothed / 8) (RACK, RFC 8985)
///     recovery    window = in flight + n, each acknowledgement (PRR):
///                   in flight > threshold:  n = ceil(threshold x delivered / window before) - sent
///                   else                    n = min(threshold - in flight,
///                                               max(delivered - sent, delivered now) + progress)
///     probe       after min(timeout, 2 smoothed + 8 ms), or + the least timeout where one segment
///                   is out: the next segment, or the last one again
///     timeout     smoothed + max(least, 4 deviations); all that were not sent within a round trip
///                   are lost, slow start from one segment, CUBIC begins anew
/// Source: Linux 6.x, net/ipv4/tcp_input.c, tcp_recovery.c, tcp_output.c (read, not copied).
namespace gradwire::sim {

struct KernelSender {
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Transmission {
    double time = 0;
    std::int64_t segment = 0;
    bool is_later_than(const Transmission& other) const {
      return time > other.time || (time == other.time && segment > other.segment);
    }
  };
  enum class Timer : std::uint8_t { kTimeout, kProbe, kReorder };

  /// When each outstanding segment was sent last; numbers are the scoreboard's.
  NumberedQueue<double> sent_at;
  /// Transmissions that may be lost, in order of time.
  NumberedQueue<Transmission> transmissions;
  Transmission recent{-kNever, -1};  ///< of all that have arrived, the one that was sent last
  double recent_round_trip = 0;      ///< round trip of `recent`
  double least_round_trip = kNever;
  double sample = -1;  ///< s: longest round trip that the acknowledgement at hand tells; < 0: none
  double latest = 0;   ///< s: shortest round trip that the acknowledgement at hand tells
  Timer timer = Timer::kTimeout;
  double timeout_from = 0;  ///< when the timeout's clock was set anew
  bool again = false;       ///< a timeout's segments are out, and nothing has come back

  std::int64_t window_before = 0;  ///< segments, when recovery began
  std::int64_t delivered = 0;      ///< segments delivered in recovery
  std::int64_t out = 0;            ///< segments sent in recovery

  std::int64_t probe_end = -1;  ///< segments when the probe was sent; -1: none is out
  bool probe_repairs = false;   ///< the probe was sent in place of a lost one

  bool limited = false;       ///< the window was filled since segment use_end was sent
  std::int64_t most_out = 0;  ///< segments, since then
  std::int64_t use_end = 0;

  /// Last segments of bundles that are on their way to the last queue, in order.
  NumberedQueue<std::int64_t> pushed;

  double last_sent = -kNever;
  std::int64_t used = 0;  ///< segments: most that were out while the window was not filled
  double used_since = 0;  ///< s: when the window was filled last, or something was acknowledged
};

}  // namespace gradwire::sim
