// Whether a connection may be a fluid, or is a stream: what windows cover, and what queues may
// drop.
#include <algorithm>
#include <memory>

#include "sim/flow/flow_network.h"

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
/// Of more flows on one channel none is followed segment by segment for what its share may drop.
constexpr std::int32_t kCrowd = 512;

}  // namespace

/// Whether a window that has filled the pipe once fills it ever after: nothing is lost, or what
/// CoDel's losses leave of the window is enough.
bool FlowNetwork::may_open(const TcpPath& path) const {
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
bool FlowNetwork::is_covered(Connection& connection, const Transfer& t) {
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
void FlowNetwork::close_after_idle(Connection& connection) {
  if (!transport_.constants.idle_restart) return;
  const double timeout = connection.path->round_trip + transport_.min_rto.value();
  if (now_ - connection.updated <= timeout) return;
  const bool foreseen = connection.window != nullptr || connection.stream != nullptr;
  connection.is_open = false;
  stream_of(connection).resume_after(foreseen ? 0 : connection.kept_window, connection.updated);
}

/// s: from one full segment of the connection to the next at its share, or on its line.
double FlowNetwork::spacing(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  const double line = connection.path->segment_time;
  double rate = sharing_.rate(c);
  if (connection.state == State::kStream && rate >= connection.cap * (1 - 1e-9))
    rate = std::max(rate, sharing_.room(c));
  const double shared = rate > 0 ? segment_ / rate : line;
  return shared > kOwnLine * line && !is_crowd(c, kCrowd) ? shared : line;
}

/// s: when a link on the connection's way changes next.
double FlowNetwork::next_change(std::int32_t c) const {
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
bool FlowNetwork::changes_before(std::int32_t c, double bytes) {
  if (!connection_at(c).follows) return false;
  follow(c);
  const double share = sharing_.rate(c) > 0 ? sharing_.rate(c) : connection_at(c).path->line_rate;
  const double next = next_change(c);
  return next < kNever && now_ + bytes / std::min(share, line_now(c)) > next;
}

/// Whether acknowledgements of segments so far apart may come too late for the sender's timer.
bool FlowNetwork::may_time_out(double spacing) const {
  return spacing > kTimelyShare * transport_.min_rto.value();
}

/// Whether the transfer, the first of an open connection, may be a fluid from its start on.
bool FlowNetwork::stays_fluid(std::int32_t c) {
  Connection& connection = connection_at(c);
  Transfer& t = transfer(connection.first);
  if (transport_.protocol != TransportSettings::Protocol::kTcp) return true;
  if (connection.follows && !airs_.empty()) return true;
  const double apart = spacing(c);
  const CoDelTimes& codel = connection.path->discipline.codel;
  if (!OpenWindow::is_needed(*connection.path, codel, apart, t.segments)) return true;
  if (connection.stream) {
    catch_up(c);
    if (!connection.stream->idle()) return false;
    connection.window = std::make_unique<OpenWindow>(
        *connection.path, codel, apart, connection.stream->congestion(),
        connection.stream->smoothed_round_trip(), connection.stream->first_segment());
    retire(connection, 0, 0);
  }
  if (!connection.window) return true;
  connection.window->set_share(codel, apart);
  if (connection.path->changes) {
    const double pipe = connection.path->round_trip * line_now(c) / segment_;
    connection.open_pipe = std::max(connection.open_pipe, pipe);
  }
  t.streams = may_time_out(apart) || changes_before(c, static_cast<double>(t.wire.count())) ||
              !connection.window->fills(connection.open_pipe) ||
              !connection.window->pass(now_, t.segments);
  return !t.streams;
}

/// Whether what is left of it may be a fluid, of a connection that is a stream.
bool FlowNetwork::can_leave(std::int32_t c) {
  Connection& connection = connection_at(c);
  Transfer& t = transfer(connection.first);
  if (connection.follows && !airs_.empty()) return true;
  if (t.streams) return false;
  const TcpStream& stream = *connection.stream;
  const double apart = spacing(c);
  if (may_time_out(apart) || changes_before(c, stream.unsent_wire())) return false;
  const CoDelTimes& codel = connection.path->discipline.codel;
  if (!OpenWindow::is_needed(*connection.path, codel, apart, stream.unsent_segments())) return true;
  OpenWindow window(*connection.path, codel, apart, stream.congestion(),
                    stream.smoothed_round_trip(), stream.first_segment());
  if (!window.fills(connection.open_pipe))
    return false;  // it did once, but has lost a segment since
  // In slow start a few segments more or less decide on the next transfer's window: near its end
  // the stream is worth its while.
  const double under_way = stream.in_flight() / segment_;
  if (stream.congestion().is_starting() && 2 * stream.unsent_segments() < under_way) return false;
  const double queued = stream.queued(now_) / segment_ * apart;
  t.streams =
      !window.pass(now_, stream.unsent_segments(), {under_way, queued, stream.drops_from()});
  if (!t.streams) connection.window = std::make_unique<OpenWindow>(window);
  return !t.streams;
}

/// begins_crowded() of one that is sending for long enough, at `rate`.
bool FlowNetwork::is_dropped_from(std::int32_t c, double rate) {
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
  if (!connection.window) {
    // Before its share was known there was nothing to foresee.
    if (!connection.stream || !OpenWindow::is_needed(*connection.path, codel, apart, t.segments))
      return false;
    catch_up(c);
    const TcpStream& stream = *connection.stream;
    if (!stream.idle()) return true;
    return !OpenWindow(*connection.path, codel, apart, stream.congestion(),
                       stream.smoothed_round_trip(), stream.first_segment())
                .pass(now_, t.segments);
  }
  OpenWindow window = *connection.window;
  window.set_share(codel, apart);
  return !window.pass(now_, t.segments);
}

}  // namespace gradwire::sim
