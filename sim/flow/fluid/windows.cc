#include "sim/flow/fluid/windows.h"

namespace gradwire::sim {
namespace {

/// Of the least timeout: the acknowledgement of two segments, and what delays it, come in it.
constexpr double kTimelyShare = 0.4;
constexpr double kLongRoundTrip = 5e-3;  ///< s
constexpr double kShared = 2;            ///< of the line's segment time: others take as much
constexpr double kFewSegments = 8;       ///< losses among so few are not repaired without a timeout

}  // namespace

bool may_open(const TcpPath& path, const TransportSettings& transport) {
  if (path.loss > 0 || path.ack_loss > 0 || waits_for_acks(path, transport)) return false;
  // Its windows and its pacing always decide.
  if (transport.congestion_control == TransportSettings::CongestionControl::kBbr) return false;
  const double target = codel_times(path.segment_time, transport.constants).target;
  const double kept = CongestionWindow::beta(transport) * (path.round_trip + target);
  return kept >= path.round_trip;
}

bool may_time_out(double spacing, const TransportSettings& transport) {
  return spacing > kTimelyShare * transport.min_rto.value();
}

bool may_be_dropped(const StreamPath& path, double spacing, double segments) {
  const CoDelTimes& codel = path.discipline.codel;
  if (segments * spacing <= codel.target + codel.interval) return false;
  const bool is_told =
      spacing <= kShared * path.segment_time || codel.target >= kFewSegments * spacing;
  return path.round_trip > kLongRoundTrip || !is_told;
}

}  // namespace gradwire::sim
