// Connections whose window or losses decide: when they are streams of segments (tcp/stream.h) and
// when fluids, what streams ask for, and at which rates they are served.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/flow/fluid/fluid_network.h"
#include "sim/flow/fluid/windows.h"

namespace gradwire::sim {
namespace {

/// A window of so many shares of the pipe limits nothing.
constexpr double kOpenPipes = 2;
/// kAhead, while it may send bursts that wait for those of others
constexpr double kBurstAhead = 0;
/// Where its segments wait, by this share of the time until they are through: what it sends by then
/// comes behind them whenever it is sent.
constexpr double kAheadOfQueue = 0.5;
/// ... and where its rate is its own limit, which others seldom change.
constexpr double kFarAhead = 0.5;
/// A stream asks for another cap when its demand has changed by this much.
constexpr double kDemandChange = 0.125;
/// So many segments that wait are a burst.
constexpr double kBurst = 0.5;
/// Bytes a second that a stream asks for between two bursts.
constexpr double kSilent = 1;
/// A pool's streams are served anew when its level has changed by this much.
constexpr double kLevelChange = 0.02;
/// A segment takes so much of its time on the line at most, if the line is its connection's alone.
constexpr double kOwnLine = 1.1;
/// A transfer of which no more segments have been sent has just begun.
constexpr double kBegun = 0.5;
/// A stream goes on where a message fills more than this of its window: it grows then, and on a
/// path that is shared more may be unanswered than the line's rate says.
constexpr double kCoveredShare = 0.83;
/// s: what is sent sooner is not dropped by CoDel, whose interval this is at least.
constexpr double kCrowded = 0.1;
/// Of more flows on one channel none is followed segment by segment for what its share may drop.
constexpr std::int32_t kCrowd = 512;
/// ... and of so many no windows that meet.
constexpr std::int32_t kBurstCrowd = 4096;

}  // namespace

/// Whether the window covers the transfer beside what was sent before and is not acknowledged: then
/// it is as fast as a fluid. Most is unacknowledged when its last byte goes out, or its first one's
/// acknowledgement comes. (That the window might grow a little by it is left out, and so is, where
/// a stream follows, what a fluid has under way: short round trips only.)
bool FluidNetwork::is_covered(Connection& connection, const FluidTransfer& t) {
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
    connection.stream->run(now_);
    under_way = connection.stream->tcp().in_flight();
    window = connection.stream->tcp().demand_at(now_) * round_trip;
    const TcpConstants& constants = transport_.constants;
    const bool stays = !constants.kernel_recovery && !constants.idle_restart;
    if (stays && connection.stream->tcp().idle()) connection.window_at_rest = window;
  }
  const double alone = std::min(bytes, round_trip * line);  // before its own first acknowledgement
  const double before = connection.unacknowledged.at(now_ + alone / line, line, round_trip);
  if (under_way + before + alone > window) return false;
  if (!connection.streamed) return true;
  const double unanswered = connection.unacknowledged.until_next(now_, line, round_trip) * line;
  if (std::min(bytes, unanswered) > kCoveredShare * window) return false;
  if (connection.window_at_rest <= 0) connection.stream->tcp().touch(now_ + bytes / line);
  return true;
}

/// Where windows shrink in silence: an open connection is a stream again, with what is left of the
/// window.
void FluidNetwork::close_after_idle(Connection& connection) {
  if (!transport_.constants.idle_restart) return;
  const double timeout = connection.path->round_trip + transport_.min_rto.value();
  if (now_ - connection.updated <= timeout) return;
  connection.is_open = false;
  stream_of(connection).tcp().resume_after(connection.updated);
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

/// Whether a link on the connection's way changes before it has sent so many bytes.
bool FluidNetwork::changes_before(std::int32_t c, double bytes) {
  if (!connection_at(c).follows) return false;
  follow(c);
  const double share = sharing_.rate(c) > 0 ? sharing_.rate(c) : connection_at(c).path->line_rate;
  const std::span<const ChannelId> route = sharing_.route(c);
  const double line = std::max(channels_.line(route), Bottleneck::kStalled);
  const double next = channels_.next_change(route);
  return next < kNever && now_ + bytes / std::min(share, line) > next;
}

/// may_be_dropped(); of a crowd none is followed segment by segment for what its share may drop.
bool FluidNetwork::drops_of(std::int32_t c, double spacing, double segments) const {
  const StreamPath& path = *connections_[static_cast<std::size_t>(c)].path;
  return may_be_dropped(path, spacing, segments) && !is_crowd(c, kCrowd);
}

/// Whether the transfer, the first of an open connection, may be a fluid from its start on.
bool FluidNetwork::stays_fluid(std::int32_t c) {
  Connection& connection = connection_at(c);
  FluidTransfer& t = transfers_[connection.first];
  if (transport_.protocol != TransportSettings::Protocol::kTcp) return true;
  t.streams = drops_of(c, spacing(c), t.segments);
  return !t.streams;
}

/// Whether what is left of it may be a fluid, of a connection that is a stream.
bool FluidNetwork::can_leave(std::int32_t c) {
  const Connection& connection = connection_at(c);
  if (transfers_[connection.first].streams) return false;
  const FluidStream& stream = *connection.stream;
  const double apart = spacing(c);
  const double left = stream.bottleneck().waits_too_long()
                          ? kNever
                          : stream.tcp().unsent_segments() + stream.tcp().in_flight() / segment_;
  return !may_time_out(apart, transport_) && !changes_before(c, stream.tcp().unsent_wire()) &&
         !drops_of(c, apart, left);
}

/// Whether a fluid that begins turns out to share its link with so many that CoDel drops some of
/// its window, or its timer goes off.
bool FluidNetwork::begins_crowded(std::int32_t c) {
  Connection& connection = connection_at(c);
  const double rate = sharing_.rate(c);
  if (rate <= 0 || connection.remaining < kCrowded * rate) return false;
  if (connection.pool < 0 && connection.rate > 0 && rate >= connection.rate) return false;
  if (transport_.protocol != TransportSettings::Protocol::kTcp) return false;
  const FluidTransfer& t = transfers_[connection.first];
  const double apart = spacing(c);
  const double left = connection.remaining - sent_since_update(connection);
  const bool fresh = left >= static_cast<double>(t.wire.count()) - kBegun * segment_;
  if (!fresh) return false;
  if (may_time_out(apart, transport_)) return true;
  if (apart <= connection.path->segment_time) return false;
  const CoDelTimes& codel = connection.path->discipline.codel;
  if (!connection.is_open) return t.segments * apart > codel.target + codel.interval;
  return drops_of(c, apart, t.segments);
}

FluidStream& FluidNetwork::stream_of(Connection& connection) {
  if (connection.stream) return *connection.stream;
  const auto c = static_cast<std::int32_t>(&connection - connections_.data());
  std::vector<ChannelId> forward;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;  // media come last
    forward.push_back(id);
  }
  const std::vector<ChannelId> back = way_back(forward);
  connection.stream = std::make_unique<FluidStream>(
      std::shared_ptr<const StreamPath>(std::shared_ptr<void>(), connection.path), transport_,
      losses_.of(forward, connection.key, false), losses_.of(back, connection.key, true));
  connection.stream->tcp().set_phases(phases_);
  if (connection.kept_window > 0) {
    const std::int64_t segment = connection.path->segment;
    connection.stream->tcp().resume(
        static_cast<std::int64_t>(connection.kept_window) / segment * segment,
        connection.path->round_trip);
  }
  if (connection.wire_sent > 0) connection.stream->tcp().know_offer();
  return *connection.stream;
}

/// What the connection has sent as a fluid and is not acknowledged fills its stream's window, and
/// its acknowledgements let that grow.
void FluidNetwork::take_over(Connection& connection) {
  if (!connection.may_open || transport_.constants.kernel_recovery) return;
  const double line = connection.path->line_rate;
  connection.unacknowledged.hand_over(line, [&](double begin, double end, double bytes) {
    const std::int64_t segments = connection.stream->take_over(now_, begin, end, bytes);
    connection.stream_acks -= static_cast<double>(segments) / kSegmentsPerAck;
  });
}

void FluidNetwork::begin_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  FluidStream& stream = stream_of(connection);
  connection.state = State::kStream;
  ++streams_;
  connection.streamed = true;
  connection.window_at_rest = 0;
  if (connection.follows) follow(c);
  stream.run(now_);  // acknowledgements that came while it rested
  take_over(connection);
  connection.cap = stream.tcp().demand();
  settling_.remove(c);
  sharing_.activate(c, connection.cap);
  connection.waits = true;
  beginning_.push_back(c);
}

/// Streams that begin send once all is known that happens at this instant: their shares, who else
/// fills a queue, and all messages that go out together. False: those that send bursts beside
/// others have asked for more first.
bool FluidNetwork::begin_writing() {
  bool asked = false;
  for (const std::int32_t c : beginning_) {
    Connection& connection = connection_at(c);
    if (!connection.waits || connection.bursts || !may_burst(c)) continue;
    asked = connection.bursts = true;
    connection.cap = MaxMin::kNoCap;
    sharing_.set_cap(c, connection.cap);
  }
  if (asked) return false;
  for (const std::int32_t c : beginning_) {
    Connection& connection = connection_at(c);
    if (!connection.waits) continue;
    connection.waits = false;
    serve_stream(c);
    for (std::int32_t t = connection.first; t >= 0; t = transfers_[t].next) write(c, t);
  }
  beginning_.clear();
  return true;
}

void FluidNetwork::write(std::int32_t c, std::int32_t number) {
  Connection& connection = connection_at(c);
  if (connection.waits) return;  // begin_writing() does it
  const FluidTransfer& t = transfers_[number];
  // One that was silent has no share yet by which CoDel could judge it.
  if (connection.cap == kSilent) connection.stream->serve(now_, connection.path->line_rate);
  connection.stream->tcp().write(now_, static_cast<std::uint64_t>(number), t.payload.count(),
                                 t.next >= 0);
  demand(c);
  set_stream_due(c);
}

void FluidNetwork::step_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  FluidStream& stream = *connection.stream;
  const double batch = now_ + now_ * kSameInstant;
  // BBR's bursts fill what is shared at once, whatever was left before.
  const bool far = sharing_.has_own_rate(c) &&
                   (!sharing_.meets_others(c) || !stream.tcp().congestion().is_paced());
  const double ahead = may_burst(c) ? kBurstAhead : far ? kFarAhead : kAhead;
  // A link that changes moves what waits, and a loss on the way may leave nothing that waits.
  const bool keeps = connection.bursts && connection.is_clean() && !connection.follows;
  const double waits = keeps ? std::max(0.0, stream.free_at() - now_) : 0;
  // What is sent behind a change of a link is sent by its new rate.
  stream.run(batch + kAheadOfQueue * waits, std::min(batch + ahead * connection.path->round_trip,
                                                     channels_.next_change(sharing_.route(c))));
  while (stream.tcp().delivered(batch)) finish_first(c);
  if ((connection.is_clean() && stream.tcp().is_quiet()) || stream.tcp().idle()) {
    rest(c);
    return;
  }
  // What a window fills while a link is slow it may not fill when it is fast again.
  if (connection.may_open && (!connection.is_open || connection.path->changes)) {
    const double window = stream.tcp().demand() * connection.path->round_trip;
    // A burst's acknowledgements double a window at once: what it asked for before is no share.
    const bool asks_for_all = sharing_.rate(c) >= connection.cap * (1 - 1e-9);
    const double left = asks_for_all ? sharing_.room(c) : 0;
    const double share = kOpenPipes * std::max(sharing_.rate(c), left);
    const double line = connection.path->changes
                            ? std::max(channels_.line(sharing_.route(c)), Bottleneck::kStalled)
                            : connection.path->line_rate;
    const double pipe = connection.path->round_trip * std::min(line, share);
    connection.is_open = window >= pipe && sharing_.rate(c) > 0;
  }
  if (connection.is_open && stream.is_settled() && can_leave(c)) {
    leave_stream(c);
    return;
  }
  demand(c);
  serve_stream(c);
  set_stream_due(c);
}

/// The stream's oldest message has arrived.
void FluidNetwork::finish_first(std::int32_t c) {
  Connection& connection = connection_at(c);
  const TcpStream::Message& message = connection.stream->tcp().front();
  const auto number = static_cast<std::int32_t>(message.id);
  FluidTransfer& t = transfers_[number];
  GRADWIRE_ASSERT(number == connection.first);
  t.wire = Bytes(message.wire);
  t.retransmissions = message.retransmissions;
  t.is_sent = true;
  connection.stream->tcp().pop();
  connection.first = t.next;
  if (connection.first < 0) connection.last = -1;
  arrivals_.insert(now_).transfer = number;
}

/// From here on the connection is a fluid. What the stream has sent of the first transfer is
/// counted with the rest of it, when that is through.
void FluidNetwork::leave_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  const FluidStream& stream = *connection.stream;
  const FluidTransfer& t = transfers_[connection.first];
  connection.remaining = stream.tcp().unsent_wire() + stream.queued(now_);
  const double sent = static_cast<double>(t.wire.count()) - stream.tcp().unsent_wire();
  const double acks = (t.segments - stream.tcp().unsent_segments()) / kSegmentsPerAck;
  connection.kept_window = static_cast<double>(stream.tcp().congestion().size());
  connection.wire_sent += stream.wire_sent() - sent;
  connection.stream_acks += static_cast<double>(stream.tcp().acknowledgements()) - acks;
  connection.stream.reset();
  rest(c);
  connection.state = State::kFluid;
  connection.updated = now_;
  sharing_.activate(c, MaxMin::kNoCap);
}

/// Whether more meet on one of its channels than can be followed: then shares drop nothing, or
/// windows pass at their mean rates (docs/network.md).
bool FluidNetwork::is_crowd(std::int32_t c, std::int32_t most) const {
  for (const ChannelId id : sharing_.route(c))
    if (sharing_.active_on(id) > most) return true;
  return false;
}

/// Whether what it sends at once may wait, at a link that the mean of all does not fill, for what
/// others send at the same time.
bool FluidNetwork::may_burst(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  return !connection.stream->tcp().congestion().is_paced() && sharing_.queue_of(c) >= 0 &&
         !is_crowd(c, kBurstCrowd);
}

/// The stream's next event; for a burst also its end.
void FluidNetwork::set_stream_due(std::int32_t c) {
  const Connection& connection = connection_at(c);
  double due = connection.stream->next_event();
  if (connection.bursts) due = std::min(due, std::max(now_, connection.stream->free_at()));
  due_.set(c, due);
}

/// Bytes pass at the stream's share; where it asks for less than it could have, at all that is
/// left.
void FluidNetwork::serve_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  double rate = sharing_.rate(c);
  if (rate >= connection.cap * (1 - 1e-9)) rate = std::max(rate, sharing_.room(c));
  if (connection.follows)
    connection.stream->bottleneck().set_line(
        std::max(channels_.line(sharing_.route(c)), Bottleneck::kStalled));
  connection.stream->serve(now_, std::max(rate, Bottleneck::kStalled));
}

/// A pool's streams get its level, which has changed.
void FluidNetwork::serve_streams(std::int32_t p) {
  if (!pools_.has_changed(p, kLevelChange)) return;
  pooled_.clear();
  sharing_.append_pooled(p, pooled_);
  for (const std::int32_t c : pooled_) {
    if (connection_at(c).state != State::kStream) continue;
    serve_stream(c);
    set_stream_due(c);
  }
}

/// The connection is about to send: the channels on its way are as they are now.
void FluidNetwork::follow(std::int32_t c) {
  channels_.follow(c, now_, sharing_);
  if (connection_at(c).state == State::kStream) hold_acks(c);
}

/// The channel went out, or came back.
void FluidNetwork::hold_acks_on(ChannelId id) {
  if (streams_ == 0) return;
  pooled_.clear();
  sharing_.append_active(id, pooled_);
  for (const std::int32_t c : pooled_) {
    if (connection_at(c).state != State::kStream) continue;
    hold_acks(c);
    set_stream_due(c);
  }
}

/// Whether its acknowledgements wait before a link that carries nothing in either direction.
void FluidNetwork::hold_acks(std::int32_t c) {
  double behind = 0, held = -1;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;
    behind +=
        cluster_.channel(id).delay.value() + 8 * headers_ / cluster_.nominal_rate(id ^ 1).value();
    if (channels_.is_out(id)) held = behind;
  }
  connection_at(c).stream->hold_acks(now_, held);
}

/// What the stream asks for: its window in each round trip; while a burst waits, all that it can
/// get, and between bursts nothing.
void FluidNetwork::demand(std::int32_t c) {
  Connection& connection = connection_at(c);
  double cap = connection.stream->tcp().demand();
  const double queued = connection.stream->queued(now_);
  connection.bursts = may_burst(c) && queued > kBurst * segment_;
  if (connection.bursts) {
    cap = MaxMin::kNoCap;
  } else if (queued <= 0 && may_burst(c) &&
             connection.stream->next_event() - now_ > kAhead * connection.path->round_trip) {
    cap = kSilent;
  }
  const bool differs = (cap == MaxMin::kNoCap) != (connection.cap == MaxMin::kNoCap);
  if (!differs && std::abs(cap - connection.cap) <= kDemandChange * connection.cap) return;
  connection.cap = cap;
  sharing_.set_cap(c, cap);
}

}  // namespace gradwire::sim
