// Whether a connection may be a fluid, or is a stream: what windows cover, and what queues may
// drop.
#include <algorithm>
#include <memory>

#include "sim/flow/fluid/fluid_network.h"

namespace gradwire::sim {
namespace {

/// A segment takes so much of its time on the line at most, if the line is its connection's alone.
constexpr double kOwnLine = 1.1;
/// Of the least timeout: the acknowledgement of two segments, and what delays it, come in it.
constexpr double kTimelyShare = 0.4;
/// A transfer of which no more segments have been sent has just begun.
constexpr double kBegun = 0.5;
/// A stream goes on where a message fills more than this of its window: it grows then, and on a
/// path that is shared more may be unanswered than the line's rate says.
constexpr double kCoveredShare = 0.83;
constexpr double kLongRoundTrip = 5e-3;  ///< s
constexpr double kShared = 2;            ///< of the line's segment time: others take as much
constexpr double kFewSegments = 8;       ///< losses among so few are not repaired without a timeout
/// Of more flows on one channel none is followed segment by segment for what its share may drop.
constexpr std::int32_t kCrowd = 512;

}  // namespace

/// Whether a window that has filled the pipe once fills it ever after: nothing is lost, or what
/// CoDel's losses leave of the window is enough.
bool FluidNetwork::may_open(const TcpPath& path) const {
  if (path.loss > 0 || path.ack_loss > 0 || waits_for_acks(path, transport_)) return false;
  // Its windows and its pacing always decide.
  if (transport_.congestion_control == TransportSettings::CongestionControl::kBbr) return false;
  const double target = codel_times(path, transport_.constants).target;
  const double kept = CongestionWindow::beta(transport_) * (path.round_trip + target);
  return kept >= path.round_trip;
}

/// Whether the window covers the transfer beside what was sent before and is not acknowledged: then
/// it is as fast as a fluid. Most is unacknowledged when its last byte goes out, or its first one's
/// acknowledgement comes. (That the window might grow a little by it is left out, and so is, where
/// a stream follows, what a fluid has under way: short round trips only.)
bool FluidNetwork::is_covered(Connection& connection, const Transfer& t) {
  if (!connection.may_open) return false;
  const auto bytes = static_cast<double>(t.wire.count());
  double window = connection.window_at_rest;
  if (connection.unacknowledged.most() + bytes <= window &&
      (!connection.streamed || bytes <= kCoveredShare * window))
    return true;
  const double line = connection.path->line_rate;
  const double round_trip = connection.path->round_trip;
  double under_way = 0;
  if (window <= 0) {
    catch_up(static_cast<std::int32_t>(&connection - connections_.data()));
    under_way = connection.stream->in_flight();
    window = connection.stream->demand_at(now_) * round_trip;
    const TcpConstants& constants = transport_.constants;
    const bool stays = !constants.kernel_recovery && !constants.idle_restart;
    if (stays && connection.stream->idle()) connection.window_at_rest = window;
  }
  const double alone = std::min(bytes, round_trip * line);  // before its own first acknowledgement
  const double before = connection.unacknowledged.at(now_ + alone / line, line, round_trip);
  if (under_way + before + alone > window) return false;
  if (!connection.streamed) return true;
  const double unanswered = connection.unacknowledged.until_next(now_, line, round_trip) * line;
  if (std::min(bytes, unanswered) > kCoveredShare * window) return false;
  if (connection.window_at_rest <= 0) connection.stream->touch(now_ + bytes / line);
  return true;
}

/// Where windows shrink in silence: an open connection is a stream again, with what is left of the
/// window.
void FluidNetwork::close_after_idle(Connection& connection) {
  if (!transport_.constants.idle_restart) return;
  const double timeout = connection.path->round_trip + transport_.min_rto.value();
  if (now_ - connection.updated <= timeout) return;
  connection.is_open = false;
  stream_of(connection).resume_after(connection.updated);
}

/// s: from one full segment of the connection to the next at its share, or on its line.
double FluidNetwork::spacing(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  const double line = connection.path->segment_time;
  double rate = sharing_.rate(c);
  if (connection.state == State::kStream && rate >= connection.cap * (1 - 1e-9))
    rate = std::max(rate, sharing_.room(c));
  const double shared = rate > 0 ? segment_ / rate : line;
  return shared > kOwnLine * line && !is_crowd(c, kCrowd) ? shared : line;
}

/// s: when a link on the connection's way changes next.
double FluidNetwork::next_change(std::int32_t c) const {
  double next = kNever;
  if (!connections_[static_cast<std::size_t>(c)].follows) return next;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;
    const std::int32_t f = follower_of_[static_cast<std::size_t>(id)];
    if (f >= 0) next = std::min(next, followers_[static_cast<std::size_t>(f)].next());
  }
  return next;
}

/// Whether a link on the connection's way changes before it has sent so many bytes.
bool FluidNetwork::changes_before(std::int32_t c, double bytes) {
  if (!connection_at(c).follows) return false;
  follow(c);
  const double share = sharing_.rate(c) > 0 ? sharing_.rate(c) : connection_at(c).path->line_rate;
  const double next = next_change(c);
  return next < kNever && now_ + bytes / std::min(share, line_now(c)) > next;
}

/// Whether acknowledgements of segments so far apart may come too late for the sender's timer.
bool FluidNetwork::may_time_out(double spacing) const {
  return spacing > kTimelyShare * transport_.min_rto.value();
}

/// Whether CoDel may drop some of so many segments, `spacing` s apart, so that their repair counts:
/// it does not before some have waited for its target and its interval. On short round trips repair
/// is quick, but where the share is so small that the segments that CoDel's target leaves in the
/// queue are too few to tell of a loss.
bool FluidNetwork::may_be_dropped(std::int32_t c, double spacing, double segments) const {
  const StreamPath& path = *connections_[static_cast<std::size_t>(c)].path;
  const CoDelTimes& codel = path.discipline.codel;
  if (segments * spacing <= codel.target + codel.interval || is_crowd(c, kCrowd)) return false;
  const bool is_told =
      spacing <= kShared * path.segment_time || codel.target >= kFewSegments * spacing;
  return path.round_trip > kLongRoundTrip || !is_told;
}

/// Whether the transfer, the first of an open connection, may be a fluid from its start on.
bool FluidNetwork::stays_fluid(std::int32_t c) {
  Connection& connection = connection_at(c);
  Transfer& t = transfer(connection.first);
  if (transport_.protocol != TransportSettings::Protocol::kTcp) return true;
  if (connection.follows && !airs_.empty()) return true;
  t.streams = may_be_dropped(c, spacing(c), t.segments);
  return !t.streams;
}

/// Whether what is left of it may be a fluid, of a connection that is a stream.
bool FluidNetwork::can_leave(std::int32_t c) {
  const Connection& connection = connection_at(c);
  if (connection.follows && !airs_.empty()) return true;
  if (transfer(connection.first).streams) return false;
  const TcpStream& stream = *connection.stream;
  const double apart = spacing(c);
  const double left =
      stream.waits_too_long() ? kNever : stream.unsent_segments() + stream.in_flight() / segment_;
  return !may_time_out(apart) && !changes_before(c, stream.unsent_wire()) &&
         !may_be_dropped(c, apart, left);
}

/// begins_crowded() of one that is sending for long enough, at `rate`.
bool FluidNetwork::is_dropped_from(std::int32_t c, double rate) {
  Connection& connection = connection_at(c);
  if (connection.pool < 0 && connection.rate > 0 && rate >= connection.rate) return false;
  if (transport_.protocol != TransportSettings::Protocol::kTcp) return false;
  const Transfer& t = transfer(connection.first);
  const double apart = spacing(c);
  const double left = connection.remaining - sent_since_update(connection);
  const bool fresh = left >= static_cast<double>(t.wire.count()) - kBegun * segment_;
  if (!fresh || (connection.follows && !airs_.empty())) return false;
  if (may_time_out(apart)) return true;
  if (apart <= connection.path->segment_time) return false;
  const CoDelTimes& codel = connection.path->discipline.codel;
  if (!connection.is_open) return t.segments * apart > codel.target + codel.interval;
  return may_be_dropped(c, apart, t.segments);
}

}  // namespace gradwire::sim
