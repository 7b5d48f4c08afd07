#pragma once
#include <cstdint>
#include <limits>

#include "sim/flow/tcp/codel.h"
#include "sim/flow/tcp/congestion.h"
#include "sim/flow/tcp_path.h"

namespace gradwire::sim {

/// The congestion window of a connection whose segments go out as a fluid, because the window has
/// filled the pipe and nothing is lost: it grows on, until what waits for the bottleneck is too
/// much for CoDel. With W segments under way and s the time of one, a segment waits
///     W s - r0
/// and one is dropped when that has been above CoDel's target for an interval (tcp/bottleneck.h):
/// where it happens before the end of a transfer, its repair may be what the transfer waits for. On
/// a shared link s is the time from one segment to the next at the connection's share.
///
/// Where it breaks down: the share as it is now; acknowledgements come evenly.
class OpenWindow {
 public:
  /// Where drops are worth foreseeing of a message of so many segments, `spacing` s apart. On short
  /// round trips their repair is quick, but where the share is so small that the segments that
  /// CoDel's target leaves in the queue are too few to tell of a loss.
  static bool is_needed(const TcpPath& path, const CoDelTimes& codel, double spacing,
                        double segments);

  /// What was sent before. Acknowledgements of it come from now on, evenly.
  struct Ahead {
    double segments = 0;
    double queued = 0;  ///< s, until those that wait have left the bottleneck
    double drops_from = std::numeric_limits<double>::infinity();  ///< s, tcp/bottleneck.h
  };

  /// `codel`: of the queue where they wait. `spacing`: s, from a segment to the next. `smoothed`:
  /// the smoothed round trip, s. `first`: number of the first segment that is not acknowledged, as
  /// `congestion` counts.
  OpenWindow(const TcpPath& path, const CoDelTimes& codel, double spacing,
             const CongestionWindow& congestion, double smoothed, std::int64_t first = 0);
  /// From now on segments wait in this queue, and are so far apart, s.
  void set_share(const CoDelTimes& codel, double spacing);

  /// Whether it fills a pipe of so many segments.
  bool fills(double segments) const {
    return static_cast<double>(congestion_.segments()) >= segments;
  }
  /// Whether so many segments that start at `now` are through before one is dropped; then they are
  /// what the window has grown by.
  bool pass(double now, double segments) { return pass(now, segments, {}); }
  /// ... behind what the connection has sent before.
  bool pass(double now, double segments, const Ahead& ahead);
  const CongestionWindow& congestion() const { return congestion_; }
  double smoothed_round_trip() const { return smoothed_; }  ///< s

 private:
  double segment_time_;  ///< at the share
  double round_trip_;
  CoDelTimes codel_;
  double smoothed_;
  CongestionWindow congestion_;
  std::int64_t sent_;  ///< segments
};

}  // namespace gradwire::sim
