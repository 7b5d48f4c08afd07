#include "sim/flow/tcp/open_window.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "sim/flow/tcp/round_trip_gains.h"
#include "sim/flow/tcp/stream.h"

namespace gradwire::sim {
namespace {

constexpr double kLongRoundTrip = 5e-3;  // s
constexpr double kShared = 2;            // of the line's segment time: others take as much
constexpr double kFewSegments = 8;       // losses among so few are not repaired without a timeout
constexpr double kCaution = 0.75;        // a stream too many costs time, one too few is wrong
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

bool OpenWindow::is_needed(const TcpPath& path, const CoDelTimes& codel, double spacing,
                           double segments) {
  if (path.round_trip > kLongRoundTrip) return true;
  return spacing > kShared * path.segment_time && codel.target < kFewSegments * spacing &&
         segments * spacing > codel.target + codel.interval;
}

OpenWindow::OpenWindow(const TcpPath& path, const CoDelTimes& codel, double spacing,
                       const CongestionWindow& congestion, double smoothed, std::int64_t first)
    : segment_time_(spacing),
      round_trip_(path.round_trip + spacing - path.segment_time),
      codel_{kCaution * codel.target, kCaution * codel.interval},
      smoothed_(smoothed),
      congestion_(congestion),
      sent_(first) {}

void OpenWindow::set_share(const CoDelTimes& codel, double spacing) {
  codel_ = {kCaution * codel.target, kCaution * codel.interval};
  round_trip_ += spacing - segment_time_;
  segment_time_ = spacing;
}

bool OpenWindow::pass(double now, double segments, const Ahead& ahead) {
  const double end = now + ahead.queued + segments * segment_time_;
  const auto last = sent_ + static_cast<std::int64_t>(ahead.segments + segments);
  CongestionWindow grown = congestion_;
  double smoothed = smoothed_;
  double above_since = ahead.drops_from - codel_.interval / kCaution;
  double time = ahead.segments > 0 ? now : now + round_trip_;
  std::int64_t sent = sent_ + static_cast<std::int64_t>(ahead.segments);
  // By segment: those under way when it was sent, which its round trip is made of. Slow start sends
  // two for each one acknowledged, so that half of what is under way was already then.
  thread_local std::vector<float> under_way;
  under_way.clear();
  const double grows = grown.is_starting() ? 0.5 : 0;
  for (std::int64_t i = sent_; i < sent; ++i)
    under_way.push_back(static_cast<float>(ahead.segments - grows * static_cast<double>(sent - i)));
  for (std::int64_t acked = sent_; acked < last; acked += 2) {
    const std::int64_t allowed = acked + grown.segments();
    if (sent < last && sent < allowed) {
      const std::int64_t before = sent;
      sent = std::min(allowed, last);
      for (std::int64_t i = before; i < sent; ++i)
        under_way.push_back(static_cast<float>(i + 1 - acked));
      grown.set_limited(sent == allowed);
    }
    const double window = static_cast<double>(sent - acked) * segment_time_;
    if (window - round_trip_ < codel_.target) {
      above_since = kNever;
    } else {
      // What goes out at once at the start waits as long as it takes to drain.
      above_since =
          std::min(above_since, ahead.segments == 0 && acked == sent_ ? now + codel_.target : time);
      if (time > above_since + codel_.interval && above_since + codel_.interval < end) return false;
    }
    const double sample = under_way[static_cast<std::size_t>(acked - sent_)] * segment_time_;
    smoothed += kSmoothing * (std::max(round_trip_, sample) - smoothed);
    grown.acknowledged(time, smoothed);
    grown.grow(time, 2, acked + 2, sent);
    time += 2 * segment_time_;
  }
  congestion_ = grown;
  smoothed_ = smoothed;
  sent_ = last;
  return true;
}

}  // namespace gradwire::sim
