// Connections whose window or losses decide: streams of segments (tcp/stream.h).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/cluster/channel_draws.h"
#include "sim/flow/burst_chain.h"
#include "sim/flow/flow_network.h"

namespace gradwire::sim {
namespace {

/// Streams of simulated losses and delays (base/philox.h: reserved tensor ids).
constexpr std::uint32_t kStreamJitter = kFirstReservedTensor + 0x10000004u;
constexpr std::uint32_t kPhaseStream = kFirstReservedTensor + 0x10000007u;
constexpr std::uint32_t kAckDraws = 1;
constexpr std::uint64_t kAckSeed = 0x5851F42D4C957F2Dull;
/// A segment takes so much of its time on the line at most, if the line is its connection's alone.
constexpr double kOwnLine = 1.1;
/// Of the least timeout: the acknowledgement of two segments, and what delays it, come in it.
constexpr double kTimelyShare = 0.4;
/// A transfer of which no more segments have been sent has just begun.
constexpr double kBegun = 0.5;
/// A window of so many shares of the pipe limits nothing.
constexpr double kOpenPipes = 2;
/// A stream goes on where a message fills more than this of its window: it grows then, and on a
/// path that is shared more may be unanswered than the line's rate says.
constexpr double kCoveredShare = 0.83;
/// A stream asks for another cap when its demand has changed by this much.
constexpr double kDemandChange = 0.125;
/// A stream runs ahead of the others by this share of a round trip: many acknowledgements are one
/// event, and a change of its share is felt so much later.
constexpr double kAhead = 0.125;
/// ... while it may send bursts that wait for those of others
constexpr double kBurstAhead = 0;
/// Where its segments wait, by this share of the time until they are through: what it sends by then
/// comes behind them whenever it is sent.
constexpr double kAheadOfQueue = 0.5;
/// Of more flows on one channel none is followed segment by segment for what its share may drop.
constexpr std::int32_t kCrowd = 512;
/// ... and of so many no windows that meet.
constexpr std::int32_t kBurstCrowd = 4096;
/// More streams on one channel are served in step: their events stay together.
constexpr std::int32_t kOrdered = 64;
/// Of more flows that one host sends none waits for what comes to it.
constexpr std::int32_t kMeeting = 8;
/// So many segments that wait are a burst.
constexpr double kBurst = 0.5;
/// Bytes a second that a stream asks for between two bursts.
constexpr double kSilent = 1;
/// ... where its rate is its own limit, which others seldom change.
constexpr double kFarAhead = 0.5;
/// A pool's streams are served anew when its level has changed by this much.
constexpr double kLevelChange = 0.02;

}  // namespace

LossSequence FlowNetwork::losses(std::span<const ChannelId> route, std::uint64_t key,
                                 bool acknowledgements) {
  std::vector<std::shared_ptr<BurstChain>> bursts;
  std::vector<LossSequence::Channel> channels;
  double kept = 1;
  for (const ChannelId id : route) {
    if (BurstChain::is_needed(cluster_.channel(id))) {
      bursts.push_back(burst_of(id));
      continue;
    }
    const double loss = cluster_.channel(id).loss;
    kept *= 1 - loss;
    if (loss > 0) channels.push_back({channel_stream(seed_, id, kLossDraws), loss});
  }
  const LossDraws draws(seed_, key, acknowledgements ? kAckDraws : 0);
  LossSequence rest = losses_by_channel_ && !channels.empty() ? LossSequence(std::move(channels))
                                                              : LossSequence(1 - kept, draws);
  return LossSequence(std::move(bursts), std::move(rest));
}

std::shared_ptr<BurstChain> FlowNetwork::burst_of(ChannelId id) {
  std::shared_ptr<BurstChain>& burst = bursts_[static_cast<std::size_t>(id)];
  if (!burst)
    burst =
        std::make_shared<BurstChain>(cluster_.channel(id), channel_stream(seed_, id, kLossDraws));
  return burst;
}

std::shared_ptr<SharedQueue> FlowNetwork::queue_of(const StreamPath& path) {
  auto& queue = shared_queues_[static_cast<std::size_t>(path.queue_channel)];
  if (!queue) queue = std::make_shared<SharedQueue>(path.queue, path.discipline.framing);
  return queue;
}

/// Whether a window that has filled the pipe once fills it ever after: nothing is lost, or what
/// CoDel's losses leave of the window is enough.
bool FlowNetwork::may_open(const TcpPath& path) const {
  if (path.loss > 0 || path.ack_loss > 0 || path.queue > 0) return false;
  // Its timer may go off while the acknowledgement of a last segment is delayed.
  const double delayed = transport_.delayed_ack.value();
  if (delayed > 0 && !transport_.constants.kernel_recovery &&
      transport_.min_rto.value() < path.round_trip + delayed)
    return false;
  // Its acknowledgements pass more slowly than the segments that they are for.
  if (path.ack_spacing > kSegmentsPerAck * path.segment_time) return false;
  // Its windows and its pacing always decide.
  if (transport_.congestion_control == TransportSettings::CongestionControl::kBbr) return false;
  const double target = codel_times(path, transport_.constants).target;
  const double kept = CongestionWindow::beta(transport_) * (path.round_trip + target);
  const double largest = static_cast<double>(transport_.buffer.count());
  return kept >= path.round_trip && largest >= path.round_trip * path.line_rate;
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

TcpStream& FlowNetwork::stream_of(Connection& connection) {
  if (connection.stream) return *connection.stream;
  const auto c = static_cast<std::int32_t>(&connection - connections_.data());
  std::vector<ChannelId> forward;
  std::vector<double> jitters;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;  // media come last
    forward.push_back(id);
    const double jitter = cluster_.channel(id).jitter.value();
    if (jitter > 0 && !connection.is_followed) jitters.push_back(jitter);
  }
  const std::vector<ChannelId> back = way_back(forward);
  connection.stream = std::make_unique<TcpStream>(
      std::shared_ptr<const StreamPath>(std::shared_ptr<void>(), connection.path), transport_,
      losses(forward, connection.key, false), losses(back, connection.key, true));
  if (!jitters.empty())
    connection.stream->set_ack_jitter(
        {jitters.rbegin(), jitters.rend()},
        connection_stream(seed_ ^ kAckSeed, 0, connection.key, kStreamJitter));
  connection.stream->set_jitter(std::move(jitters),
                                connection_stream(seed_, 0, connection.key, kStreamJitter));
  connection.stream->set_phases({seed_, 0, 0, kPhaseStream});
  if (connection.is_followed)
    follow_all(connection);
  else if (connection.path->shares_queue)
    connection.stream->join(queue_of(*connection.path));
  if (connection.window)
    connection.stream->resume(connection.window->congestion(),
                              connection.window->smoothed_round_trip());
  connection.window.reset();
  if (connection.wire_sent > 0) connection.stream->know_offer();
  return *connection.stream;
}

/// What the connection has sent as a fluid and is not acknowledged fills its stream's window, and
/// its acknowledgements let that grow.
void FlowNetwork::take_over(Connection& connection) {
  if (!connection.may_open || transport_.constants.kernel_recovery) return;
  const double line = connection.path->line_rate;
  connection.unacknowledged.hand_over(line, [&](double begin, double end, double bytes) {
    const std::int64_t segments = connection.stream->take_over(now_, begin, end, bytes);
    connection.stream_acks -= static_cast<double>(segments) / kSegmentsPerAck;
  });
}

void FlowNetwork::begin_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  TcpStream& stream = stream_of(connection);
  connection.state = State::kStream;
  ++streams_;
  connection.streamed = true;
  connection.window_at_rest = 0;
  if (connection.follows) follow(c);
  catch_up(c);
  take_over(connection);
  connection.cap = stream.demand();
  settling_.remove(c);
  sharing_.activate(c, connection.cap);
  connection.waits = true;
  beginning_.push_back(c);
}

/// Streams that begin send once all is known that happens at this instant: their shares, who else
/// fills a queue, and all messages that go out together. False: those that send bursts beside
/// others have asked for more first.
bool FlowNetwork::begin_writing() {
  bool asked = false;
  for (const std::int32_t c : beginning_) {
    Connection& connection = connection_at(c);
    if (!connection.waits || connection.bursts || !may_burst(c)) continue;
    asked = connection.bursts = true;
    connection.cap = MaxMin::kNoCap;
    sharing_.set_cap(c, connection.cap);
  }
  if (asked) return false;
  order_by_turn(beginning_);
  for (const std::int32_t c : beginning_) {
    Connection& connection = connection_at(c);
    if (!connection.waits) continue;
    connection.waits = false;
    change_queue(c);
    order_beginning(c);
    serve_stream(c);
    for (std::int32_t t = connection.first; t >= 0; t = transfer(t).next) write(c, t);
    demand(c);
    set_stream_due(c);
  }
  beginning_.clear();
  return true;
}

/// Who is served first does not hang on who was started first: each source's own link sends a first
/// segment to the next host, then one to the host after that, so that where all send to all nobody
/// is first everywhere; of several sources' segments the first source's is first.
void FlowNetwork::order_by_turn(std::vector<std::int32_t>& beginning) {
  // In queues that are first come, first served, who comes first is served first, window by window.
  const auto is_followed = [this](std::int32_t c) { return connection_at(c).is_followed; };
  if (beginning.size() < 2 || std::ranges::any_of(beginning, is_followed)) return;
  const auto hosts = static_cast<std::uint64_t>(cluster_.host_count());
  std::vector<Turn> turns;
  turns.reserve(beginning.size());
  for (const std::int32_t c : beginning) {
    const std::uint64_t key = connection_at(c).key, source = key / hosts;
    const std::uint64_t further = (hosts + key % hosts - source % hosts) % hosts;
    turns.push_back(
        {0, static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(further), c});
  }
  const auto by_source = [](const Turn& a, const Turn& b) {
    return std::tie(a.source, a.further) < std::tie(b.source, b.further);
  };
  if (!std::ranges::is_sorted(turns, by_source)) std::ranges::sort(turns, by_source);
  // Then by turn: those of one are in the order of their sources already.
  std::vector<std::size_t> begins(1, 0);  // [turn + 1]: how many have it, then those before
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const bool follows = i > 0 && turns[i].source == turns[i - 1].source;
    turns[i].of_source = follows ? turns[i - 1].of_source + 1 : 0;
    if (begins.size() < turns[i].of_source + 2u) begins.push_back(0);
    ++begins[turns[i].of_source + 1];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  for (const Turn& turn : turns) beginning[begins[turn.of_source]++] = turn.connection;
}

/// Whether so few meet where the stream is held up that each has a place in the round.
bool FlowNetwork::takes_turns(std::int32_t c) const {
  const ChannelId id = sharing_.queue_of(c);
  return id >= 0 && sharing_.active_on(id) <= kOrdered;
}

/// A stream that begins where others hold it up is served at once there, as fair queueing does new
/// flows, but for the first segments of those that have begun just before it.
void FlowNetwork::order_beginning(std::int32_t c) {
  const ChannelId id = sharing_.queue_of(c);
  if (id < 0 || !takes_turns(c)) return;
  const auto at = static_cast<std::size_t>(id);
  connection_at(c).stream->set_ahead(std::max(0.0, first_free_[at] - now_));
  first_free_[at] = std::max(now_, first_free_[at]) + segment_ / capacities_[at];
}

/// Wire bytes of others in the queue with a limit on the connection's way. Leaves the connection
/// what room there is, or its part of it where all fill it together.
double FlowNetwork::queued_by_others(std::int32_t c) {
  Connection& connection = connection_at(c);
  if (connection.path->queue_channel < 0 || connection.path->shares_queue || connection.is_followed)
    return 0;
  const auto at = static_cast<std::size_t>(connection.path->queue_channel);
  const Backlog& all = backlogs_[at];
  const double left = all.bytes - capacities_[at] * (now_ - all.at);
  const double others = std::max(0.0, left - connection.stream->queued(now_));
  const double senders = std::max(1, sharing_.active_on(connection.path->queue_channel));
  const double limit = connection.path->queue;
  const double part = std::max(segment_, limit / senders);
  connection.stream->set_queue_room(senders > 1 ? std::max(part, limit - others) : limit);
  return others;
}

void FlowNetwork::note_queued(std::int32_t c, double others) {
  const Connection& connection = connection_at(c);
  if (connection.path->queue_channel < 0 || connection.path->shares_queue || connection.is_followed)
    return;
  backlogs_[static_cast<std::size_t>(connection.path->queue_channel)] = {
      others + connection.stream->queued(now_), now_};
}

/// Whether more meet on one of its channels than can be followed: then shares drop nothing, or
/// windows pass at their mean rates (docs/network.md).
bool FlowNetwork::is_crowd(std::int32_t c, std::int32_t most) const {
  for (const ChannelId id : sharing_.route(c))
    if (sharing_.active_on(id) > most) return true;
  return false;
}

/// Whether what it sends at once may wait, at a link that the mean of all does not fill, for what
/// others send at the same time.
bool FlowNetwork::may_burst(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  return !connection.stream->congestion().is_paced() && sharing_.may_queue(c) &&
         !is_crowd(c, kBurstCrowd);
}

/// The stream's next event; for a burst also its end.
double FlowNetwork::stream_due(const Connection& connection) const {
  const double due = connection.stream->next_event();
  if (!connection.bursts || !connection.stops.empty()) return due;
  return std::min(due, std::max(now_, connection.stream->free_at()));
}

void FlowNetwork::set_stream_due(std::int32_t c) {
  const Connection& connection = connection_at(c);
  due_.set(c, stream_due(connection));
  const double arrival = connection.stream->first_arrival();
  if (arrival < kNever) note_coming(c, arrival);
}

/// The last segment of the connection's first message is known to arrive then. Its destination's
/// link is busy with it until then: acknowledgements that would come there meanwhile come behind
/// it, and what the message lets the destination send goes out before they tell anything. (In step,
/// as the ranks of a ring are, both come at one instant, hop after hop.)
void FlowNetwork::note_coming(std::int32_t c, double arrival) {
  const ChannelId last = sharing_.route(c).back();
  const bool is_tcp = transport_.protocol == TransportSettings::Protocol::kTcp;
  if (!is_tcp || transport_.constants.kernel_recovery || last >= cluster_.channel_count()) return;
  Coming& coming = coming_[static_cast<std::size_t>(last)];
  if (coming.time == arrival) return;
  coming = {arrival, connection_at(c).path->last_hop * segment_};
  if (streams_ > 0 && sharing_.active_on(last ^ 1) <= kMeeting) meet(last ^ 1, coming);
}

/// What leaves by the channel `out` of the same host learns of it.
void FlowNetwork::meet(ChannelId out, const Coming& coming) {
  met_.clear();
  sharing_.append_active(out, met_);
  for (const std::int32_t other : met_) {
    Connection& waiting = connection_at(other);
    if (waiting.state != State::kStream || sharing_.route(other).front() != out) continue;
    waiting.stream->meet(coming.time, coming.takes);
    if (!waiting.waits) due_.set(other, std::max(now_, stream_due(waiting)));
  }
}

/// Acknowledgements that came while the stream rested.
void FlowNetwork::catch_up(std::int32_t c) {
  TcpStream& stream = *connection_at(c).stream;
  const ChannelId out = sharing_.route(c).front();
  if (out < cluster_.channel_count()) {
    const Coming& coming = coming_[static_cast<std::size_t>(out ^ 1)];
    stream.meet(coming.time, coming.takes);
  }
  stream.run(now_);
}

void FlowNetwork::write(std::int32_t c, std::int32_t number) {
  Connection& connection = connection_at(c);
  if (connection.waits) return;  // begin_writing() does it
  if (connection.is_silent) {
    connection.is_silent = false;
    sharing_.activate(c, connection.cap);
  }
  const double others = queued_by_others(c);
  const Transfer& t = transfer(number);
  connection.stream->write(now_, static_cast<std::uint64_t>(number), t.payload.count(),
                           t.next >= 0);
  note_queued(c, others);
  schedule_queues(connection);
  set_stream_due(c);
}

void FlowNetwork::step_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  TcpStream& stream = *connection.stream;
  change_queue(c);
  const double batch = now_ + now_ * kSameInstant;
  // BBR's bursts fill what is shared at once, whatever was left before.
  const bool far =
      sharing_.has_own_rate(c) && (!sharing_.meets_others(c) || !stream.congestion().is_paced());
  // Who comes first to a queue with a limit is served first.
  const bool in_order = may_burst(c) || connection.path->shares_queue || !connection.stops.empty();
  const double ahead = in_order ? kBurstAhead : far ? kFarAhead : kAhead;
  // Where places in a round count, what goes out when does, too. A link that changes moves what
  // waits, a queue with a limit counts it, and a loss on the way may leave nothing that waits.
  const bool keeps = connection.bursts && connection.is_clean() && !connection.follows &&
                     connection.path->queue <= 0 && !takes_turns(c) && connection.stops.empty();
  const double waits = keeps ? std::max(0.0, stream.free_at() - now_) : 0;
  const double others = queued_by_others(c);
  // What is sent behind a change of a link is sent by its new rate.
  stream.run(batch + kAheadOfQueue * waits,
             std::min(batch + ahead * connection.path->round_trip, next_change(c)));
  note_queued(c, others);
  schedule_queues(connection);
  while (stream.delivered(batch)) finish_first(c);
  const bool is_quiet = (connection.is_clean() || connection.is_followed) && stream.is_quiet();
  const bool idle = stream.idle();
  if ((idle && stream.is_drained()) || (is_quiet && !connection.is_followed)) {
    rest(c);
    return;
  }
  if (is_quiet || idle) {
    fall_silent(c);
    return;
  }
  // What a window fills while a link is slow it may not fill when it is fast again.
  if (connection.may_open && (!connection.is_open || connection.path->changes)) {
    const double window = stream.demand() * connection.path->round_trip;
    // A burst's acknowledgements double a window at once: what it asked for before is no share.
    const bool asks_for_all = sharing_.rate(c) >= connection.cap * (1 - 1e-9);
    const double left = asks_for_all ? sharing_.room(c) : 0;
    const double share = kOpenPipes * std::max(sharing_.rate(c), left);
    const double line = connection.path->changes ? line_now(c) : connection.path->line_rate;
    const double pipe = connection.path->round_trip * std::min(line, share);
    connection.is_open = window >= pipe && sharing_.rate(c) > 0;
    connection.open_pipe = pipe / segment_;
  }
  if (connection.is_open && stream.is_settled() && can_leave(c)) {
    leave_stream(c);
    return;
  }
  demand(c);
  serve_stream(c);
  set_stream_due(c);
}

/// Its acknowledgements still pass queues in which others wait.
void FlowNetwork::fall_silent(std::int32_t c) {
  Connection& connection = connection_at(c);
  if (!connection.is_silent) sharing_.deactivate(c);
  connection.is_silent = true;
  set_stream_due(c);
}

/// The stream's oldest message has arrived.
void FlowNetwork::finish_first(std::int32_t c) {
  Connection& connection = connection_at(c);
  const TcpStream::Message& message = connection.stream->front();
  const Whole whole{static_cast<std::int32_t>(message.id), Bytes(message.wire),
                    message.retransmissions};
  connection.stream->pop();
  deliver_first(connection, whole);
}

/// All of the connection's oldest transfer is where it was sent to.
void FlowNetwork::deliver_first(Connection& connection, const Whole& whole) {
  Transfer& t = transfer(whole.number);
  GRADWIRE_ASSERT(whole.number == connection.first);
  t.wire = whole.wire;
  t.retransmissions = whole.retransmissions;
  t.delivering = true;
  connection.first = t.next;
  if (connection.first < 0) connection.last = -1;
  arrive(whole.number, now_);
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
  const CoDelTimes codel = codel_of(c);
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
  if (t.streams || connection.stops.size() > 1) return false;
  const TcpStream& stream = *connection.stream;
  const double apart = spacing(c);
  if (may_time_out(apart) || changes_before(c, stream.unsent_wire())) return false;
  const CoDelTimes codel = codel_of(c);
  // What waits may be dropped, too.
  const double waiting = !connection.stops.empty() ? stream.before_queue() / segment_ : 0;
  if (!OpenWindow::is_needed(*connection.path, codel, apart, stream.unsent_segments() + waiting))
    return true;
  OpenWindow window(*connection.path, codel, apart, stream.congestion(),
                    stream.smoothed_round_trip(), stream.first_segment());
  if (!window.fills(connection.open_pipe))
    return false;  // it did once, but has lost a segment since
  // In slow start a few segments more or less decide on the next transfer's window: near its end
  // the stream is worth its while.
  const double under_way = stream.in_flight() / segment_;
  if (stream.congestion().is_starting() && 2 * stream.unsent_segments() < under_way) return false;
  const double queued = stream.queued_at(now_, sharing_.rate(c)) / segment_ * apart;
  t.streams =
      !window.pass(now_, stream.unsent_segments(), {under_way, queued, stream.drops_from()});
  if (!t.streams) connection.window = std::make_unique<OpenWindow>(window);
  return !t.streams;
}

/// begins_crowded() of one that is sending for long enough, at `rate`.
bool FlowNetwork::is_dropped_from(std::int32_t c, double rate) {
  Connection& connection = connection_at(c);
  if (connection.pool < 0 && connection.rate > 0 && rate >= connection.rate) return false;
  if (connection.path->queue > 0 || transport_.protocol != TransportSettings::Protocol::kTcp)
    return false;
  const Transfer& t = transfer(connection.first);
  const double apart = spacing(c);
  const double left = connection.remaining - sent_since_update(connection);
  const bool fresh = left >= static_cast<double>(t.wire.count()) - kBegun * segment_;
  if (!fresh || (connection.follows && !airs_.empty())) return false;
  if (may_time_out(apart)) return true;
  if (apart <= connection.path->segment_time) return false;
  const CoDelTimes codel = codel_of(c);
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

/// The stream ends; `wire`, `acks`: what of its bytes and acknowledgements is counted later, with
/// the rest of its transfer.
void FlowNetwork::retire(Connection& connection, double wire, double acks) {
  leave_fair_queue(connection);
  connection.wire_sent += connection.stream->wire_sent() - wire;
  connection.stream_acks += connection.stream->acks_sent() - acks;
  connection.stream.reset();
}

/// From here on the connection is a fluid. What the stream has sent of the first transfer is
/// counted with the rest of it, when that is through.
void FlowNetwork::leave_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  const TcpStream& stream = *connection.stream;
  const Transfer& t = transfer(connection.first);
  connection.remaining =
      stream.unsent_wire() + stream.queued_at(now_, sharing_.rate(c)) + stream.round_left(now_);
  const double before = stream.before_queue();
  const double sent = static_cast<double>(t.wire.count()) - stream.unsent_wire() - before;
  const double acks = (t.segments - stream.unsent_segments() - before / segment_) / kSegmentsPerAck;
  connection.kept_window = stream.window();
  retire(connection, sent, acks);
  rest(c);
  connection.state = State::kFluid;
  connection.updated = now_;
  sharing_.activate(c, MaxMin::kNoCap);
}

/// Bytes a second of the slowest link on its way, as links are now.
double FlowNetwork::line_now(std::int32_t c) const {
  double line = kNever;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;
    const std::int32_t f = follower_of_[static_cast<std::size_t>(id)];
    line = std::min(line, f >= 0 ? followers_[static_cast<std::size_t>(f)].rate()
                                 : capacities_[static_cast<std::size_t>(id)]);
  }
  return std::max(line, Bottleneck::kStalled);
}

/// Bytes pass at the stream's share; where it asks for less than it could have, at all that is
/// left.
void FlowNetwork::serve_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  if (connection.is_followed) return;  // its queues do
  if (connection.path->shares_queue) {
    serve_before_queue(c);
    return;
  }
  if (!connection.stops.empty()) {
    serve_before_followed(c);
    return;
  }
  double rate = sharing_.rate(c);
  if (rate >= connection.cap * (1 - 1e-9)) rate = std::max(rate, sharing_.room(c));
  if (connection.follows) connection.stream->set_line(line_now(c));
  connection.stream->serve(now_, std::max(rate, Bottleneck::kStalled));
}

/// Where a queue on its way is first come, first served: up to it the stream has its even part of
/// each link.
void FlowNetwork::serve_before_queue(std::int32_t c) {
  Connection& connection = connection_at(c);
  const ChannelId queue = connection.path->queue_channel;
  double rate = kNever;
  for (const ChannelId id : sharing_.route(c)) {
    const double capacity = capacities_[static_cast<std::size_t>(id)];
    if (id == queue) {
      const bool back = sharing_.active_on(id ^ 1) > 0;
      connection.stream->set_shared_rate(back ? capacity / (1 + acks_) : capacity);
      break;
    }
    rate = std::min(rate, capacity / std::max(1, sharing_.active_on(id)));
  }
  connection.stream->serve(now_, rate);
}

/// A pool's streams get its level, which has changed.
void FlowNetwork::serve_streams(std::int32_t p) {
  Pool& members = pool(p);
  if (std::abs(members.rate - members.stream_rate) <= kLevelChange * members.stream_rate) return;
  members.stream_rate = members.rate;
  pooled_.clear();
  sharing_.append_pooled(p, pooled_);
  for (const std::int32_t c : pooled_) {
    if (connection_at(c).state != State::kStream || !connection_at(c).stops.empty()) continue;
    serve_stream(c);
    set_stream_due(c);
  }
}

/// Whether its acknowledgements wait before a link that carries nothing in either direction.
void FlowNetwork::hold_acks(std::int32_t c) {
  const double ack = headers_;
  double behind = 0, held = -1;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;
    behind += cluster_.channel(id).delay.value() + 8 * ack / cluster_.nominal_rate(id ^ 1).value();
    const std::int32_t f = follower_of_[static_cast<std::size_t>(id)];
    if (f >= 0 && !connection_at(c).is_followed &&
        followers_[static_cast<std::size_t>(f)].in_outage())
      held = behind;
  }
  connection_at(c).stream->hold_acks(now_, held);
}

/// What the stream asks for: its window in each round trip; while a burst waits, all that it can
/// get, and between bursts nothing.
void FlowNetwork::demand(std::int32_t c) {
  Connection& connection = connection_at(c);
  double cap = connection.stream->demand();
  if (!connection.stops.empty() && is_followed_alone(connection)) {
    cap = MaxMin::kNoCap;  // nobody else's share hangs on it
    connection.bursts = true;
    if (connection.cap != cap) sharing_.set_cap(c, connection.cap = cap);
    return;
  }
  const double burst =
      !connection.stops.empty() ? connection.stream->burst(now_) : connection.stream->queued(now_);
  connection.bursts = may_burst(c) && burst > kBurst * segment_;
  if (connection.bursts) {
    cap = MaxMin::kNoCap;
  } else if (may_burst(c) &&
             (!connection.stops.empty() ||
              connection.stream->next_event() - now_ > kAhead * connection.path->round_trip)) {
    cap = kSilent;
  }
  const bool differs = (cap == MaxMin::kNoCap) != (connection.cap == MaxMin::kNoCap);
  if (!differs && std::abs(cap - connection.cap) <= kDemandChange * connection.cap) return;
  connection.cap = cap;
  sharing_.set_cap(c, cap);
}

}  // namespace gradwire::sim
