#include "sim/flow/tcp/open_window.h"

#include <algorithm>
#include <limits>

#include "sim/flow/tcp/stream.h"

namespace gradwire::sim {
namespace {

constexpr double kLongRoundTrip = 5e-3;  // s
constexpr double kCaution = 0.75;        // a stream too many costs time, one too few is wrong
constexpr double kSmoothing = 0.125;     // of round trips, RFC 6298
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

bool OpenWindow::is_needed(const TcpPath& path) {
  return path.round_trip > kLongRoundTrip && path.queue <= 0;
}

OpenWindow::OpenWindow(const TcpPath& path, const CongestionWindow& congestion, double smoothed)
    : segment_time_(path.segment_time),
      round_trip_(path.round_trip),
      target_(kCaution * codel_target(path, congestion.constants())),
      interval_(kCaution * codel_interval(path, congestion.constants())),
      smoothed_(smoothed),
      congestion_(congestion) {
  congestion_.restart_numbers();
  congestion_.set_limited(true);
}

bool OpenWindow::pass(double now, double segments, const Ahead& ahead) {
  const double end = now + ahead.queued + segments * segment_time_;
  const auto last = sent_ + static_cast<std::int64_t>(ahead.segments + segments);
  const std::int64_t burst = ahead.segments > 0 ? 0 : sent_ + 2;
  CongestionWindow grown = congestion_;
  double smoothed = smoothed_;
  double above_since = ahead.drops_from - interval_ / kCaution;
  double time = ahead.segments > 0 ? now : now + round_trip_;
  for (std::int64_t acked = sent_ + 2; acked <= last; acked += 2) {
    const double window = static_cast<double>(grown.segments()) * segment_time_;
    if (window - round_trip_ < target_) {
      above_since = kNever;
    } else {
      // What goes out at once at the start waits as long as it takes to drain.
      above_since = std::min(above_since, acked == burst ? now + target_ : time);
      if (time > above_since + interval_ && above_since + interval_ < end) return false;
    }
    // An acknowledgement tells of the queue a round trip ago: half as long, while that doubles.
    const bool doubles = grown.size() < grown.threshold();
    smoothed += kSmoothing * (std::max(round_trip_, doubles ? window / 2 : window) - smoothed);
    grown.acknowledged(time, smoothed);
    grown.grow(time, 2, acked, acked + grown.segments());
    time += 2 * segment_time_;
  }
  congestion_ = grown;
  smoothed_ = smoothed;
  sent_ = last;
  return true;
}

}  // namespace gradwire::sim
