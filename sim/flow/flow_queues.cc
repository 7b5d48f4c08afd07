// Queues that streams of several connections share, packet by packet (tcp/fair_queue.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/cluster/link_kind.h"
#include "sim/flow/flow_network.h"

namespace gradwire::sim {
namespace {

/// Queues of more flows are not followed packet by packet.
constexpr std::int32_t kFollowed = 512;

/// s: on shorter round trips the shares are what a message waits for, whatever the ways' lengths.
constexpr double kFarAway = 5e-3;

/// A way is long for a short message that takes no more at its share than so many ways.
constexpr double kWays = 16;

constexpr double kUnits = 1 << 20;  // of a byte/s

}  // namespace

/// Whether a queue on the connection's way may be followed: that of links that never change, or, as
/// ns-3 has it, of the one that does. No pacing.
bool FlowNetwork::may_be_followed(const Connection& connection) const {
  const TcpPath& path = *connection.path;
  const bool changes = path.changes || path.change >= 0;
  const bool follows_change = path.change >= 0 && !transport_.constants.kernel_recovery;
  return detail_ != Detail::kFluid && transport_.protocol == TransportSettings::Protocol::kTcp &&
         transport_.congestion_control != TransportSettings::CongestionControl::kBbr &&
         path.queue <= 0 && !path.on_wifi && (changes ? follows_change : !connection.follows) &&
         !connection.jitters;
}

/// The channel on which the stream, whose packets are followed, waits longest: the only one on
/// which it meets others, or of several the one with the least share. -1: none is followed.
ChannelId FlowNetwork::followed_queue(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  if (!connection.may_be_followed) return -1;
  const ChannelId change = connection.path->change;
  if (change >= 0) return follows_change(c, change) ? change : -1;
  if (!sharing_.meets_on_one(c) && !sharing_.meets_on_several(c)) return -1;
  const ChannelId id = sharing_.queue_of(c);
  return id >= 0 && id < cluster_.channel_count() && sharing_.active_on(id) <= kFollowed ? id : -1;
}

/// Whether its packets are followed through the queue before the link that changes: it meets others
/// there or nowhere.
bool FlowNetwork::follows_change(std::int32_t c, ChannelId change) const {
  const std::int32_t there = sharing_.active_on(change);
  if (!sharing_.meets_others(c)) return true;
  return sharing_.meets_on_one(c) && there >= 2 && there <= kFollowed;
}

/// The channels through whose queues the stream's packets are followed, into queues_: those on
/// which it meets others, and behind the first of them those that are slower than all before.
void FlowNetwork::find_queues(std::int32_t c) {
  queues_.clear();
  if (connection_at(c).from_afar) {
    find_far_queues(c);
    if (!queues_.empty()) return;
  }
  const ChannelId least = followed_queue(c);
  if (least < 0) return;
  if (!sharing_.meets_on_several(c)) {
    if (connection_at(c).goes_by_queues || may_be_dropped(c, least)) queues_.push_back(least);
    return;
  }
  const Connection& connection = connection_at(c);
  if (connection.path->round_trip < kFarAway && !connection.goes_by_queues &&
      !may_be_dropped(c, least))
    return;
  double slowest = kNever;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) {  // both directions of a link take turns
      queues_.clear();
      return;
    }
    const bool is_crowd = sharing_.active_on(id) > kFewMeet && !is_followed_on(connection, id);
    if (is_crowd || sharing_.active_on(id) > kFollowed) {
      queues_.clear();
      return;
    }
    const double capacity = capacities_[static_cast<std::size_t>(id)];
    const bool slower = !queues_.empty() && capacity < slowest;
    if (!sharing_.may_queue_on(id) && !slower) continue;
    queues_.push_back(id);
    slowest = std::min(slowest, capacity);
  }
}

/// Of the queue in which the connection's segments wait.
CoDelTimes FlowNetwork::codel_of(std::int32_t c) const {
  const ChannelId queue = followed_queue(c);
  return queue < 0 ? connections_[static_cast<std::size_t>(c)].path->discipline.codel
                   : codel_of_channel(queue);
}

CoDelTimes FlowNetwork::codel_of_channel(ChannelId id) const {
  return codel_times(8 * segment_ / cluster_.nominal_rate(id).value(), transport_.constants);
}

/// Whether CoDel may drop something of the connection in that queue: at its share it is there for
/// longer than must pass before that.
bool FlowNetwork::may_be_dropped(std::int32_t c, ChannelId id) {
  const Connection& connection = connection_at(c);
  if (!connection.stops.empty() && connection.stops.front().channel == id) return true;  // was so
  if (id == connection.path->change) return true;
  if (connection.first < 0) return false;
  const Transfer& t = transfer(connection.first);
  if (t.next >= 0) return true;
  const double apart =
      sharing_.active_on(id) * segment_ / capacities_[static_cast<std::size_t>(id)];
  const CoDelTimes codel = codel_of_channel(id);
  return t.segments * apart > codel.target + codel.interval;
}

/// Whether a fluid that begins is over before its way counts for little: it meets others on several
/// channels, on which a fluid would begin at once, though the nearest one's segments come first.
bool FlowNetwork::is_short_for_way(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  if (!connection.may_be_followed || connection.path->change >= 0 || connection.first < 0 ||
      connection.state != State::kFluid || connection.updated != now_ || connection.rate != 0 ||
      connection.pool >= 0 || !sharing_.meets_on_several(c))
    return false;
  const double rate = sharing_.rate(c);
  const Transfer& t = transfers_[static_cast<std::size_t>(connection.first)];
  if (rate <= 0 || t.segments > kShort || t.segments <= 0) return false;
  const double way = connection.path->propagation + connection.path->forwarding * segment_;
  if (connection.remaining > kWays * way * rate) return false;
  return std::ranges::all_of(sharing_.route(c), [this](ChannelId id) {
    return id < cluster_.channel_count() && sharing_.active_on(id) <= kFewMeet;
  });
}

/// ... or it begins beside such ones on its only channel with others.
bool FlowNetwork::begins_short(std::int32_t c) {
  if (transport_.protocol != TransportSettings::Protocol::kTcp) return false;
  if (is_short_for_way(c)) return true;
  const Connection& connection = connection_at(c);
  const bool begins = connection.updated == now_ && connection.rate == 0 && connection.pool < 0;
  if (!begins || !connection.may_be_followed || !sharing_.meets_on_one(c)) return false;
  const ChannelId queue = sharing_.queue_of(c);
  if (queue < 0 || queue >= cluster_.channel_count() || !sharing_.meets_elsewhere(queue) ||
      sharing_.active_on(queue) > kFewMeet || transfer(connection.first).segments > kShort)
    return false;
  pooled_.clear();
  sharing_.append_active(queue, pooled_);
  return std::ranges::any_of(pooled_, [&](std::int32_t other) {
    return connection_at(other).goes_by_queues || is_short_for_way(other);
  });
}

/// The queue of the channel, on the way of a stream.
FlowNetwork::Followed& FlowNetwork::queue_on(ChannelId id, const StreamPath& path) {
  std::unique_ptr<Followed>& queue = followed_queues_[static_cast<std::size_t>(id)];
  if (queue) return *queue;
  const std::int64_t room =
      FairQueue::room(cluster_.nominal_rate(id), cluster_.channel(id).delay, segment_);
  queue = std::make_unique<Followed>(codel_of_channel(id), segment_, path.discipline.framing, room);
  if (!is_plain(cluster_.link_of(id).spec)) queue->packets.set_without_place();
  if (const std::int32_t f = follower_on(id); f >= 0)
    queue->packets.set_wire(followers_[static_cast<std::size_t>(f)]);
  return *queue;
}

/// The stream comes to other queues, where nothing of it is on its way to those before.
void FlowNetwork::change_queue(std::int32_t c) {
  Connection& connection = connection_at(c);
  find_queues(c);
  const bool stays = std::ranges::equal(connection.stops, queues_, {}, &Stop::channel);
  if (stays || !connection.stream->may_change_queue(now_)) return;
  leave_fair_queue(connection);
  if (queues_.empty()) {
    serve_stream(c);  // what it sends next waits for its share, not for the link before the queue
    return;
  }
  const StreamPath& path = *connection.path;
  for (const ChannelId id : queues_)
    connection.stops.push_back({id, queue_on(id, path).packets.add_flow(c)});
  const ChannelId first = queues_.front();
  ++shares_version_;
  route_.clear();
  for (const ChannelId each : sharing_.route(c)) {
    if (each < cluster_.channel_count()) route_.push_back(each);
  }
  const std::span<const ChannelId> route(route_);
  QueueWay way = queue_way(cluster_, route, first);
  if (queues_.size() > 1) {
    const QueueWay behind = queue_way(cluster_, route, queues_.back());
    way.from = behind.from;
    way.from_a_byte = behind.from_a_byte;
    way.slowest_after = behind.slowest_after;
  }
  connection.stream->join(queue_on(first, path).packets, connection.stops.front().flow, way);
  auto from = std::ranges::find(route, first);
  for (const auto& [id, flow] : std::span<const Stop>(connection.stops).subspan(1)) {
    double to = cluster_.channel(*from).delay.value(), to_a_byte = 0;
    for (++from; *from != id; ++from) {
      to += cluster_.channel(*from).delay.value();
      to_a_byte += 8 / cluster_.nominal_rate(*from).value();
    }
    connection.stream->join_further(queue_on(id, path).packets, flow, to, to_a_byte);
  }
  serve_before_followed(c);
}

/// Of the channel among the connection's stops; how many those are where it is none of them.
std::size_t FlowNetwork::place_of(const Connection& connection, ChannelId id) const {
  const auto found = std::ranges::find(connection.stops, id, &Stop::channel);
  return static_cast<std::size_t>(found - connection.stops.begin());
}

/// Up to the queue the links are the stream's own.
void FlowNetwork::serve_before_followed(std::int32_t c) {
  TcpStream& stream = *connection_at(c).stream;
  const double before = stream.rate_before_queue();
  stream.set_codel(codel_times(segment_ / before, transport_.constants));
  if (connection_at(c).follows) stream.set_line(before);
  stream.serve(now_, before);
}

void FlowNetwork::leave_fair_queue(Connection& connection) {
  const std::vector<Stop> stops = std::exchange(connection.stops, {});
  if (stops.empty()) return;
  for (const Stop& stop : stops)
    followed_queues_[static_cast<std::size_t>(stop.channel)]->packets.remove_flow(stop.flow);
  connection.stream->leave_queue();
  connection.stream->set_codel(connection.path->discipline.codel);
  ++shares_version_;
  for (const Stop& stop : stops) schedule_queue(stop.channel);
}

/// Whether acknowledgements cross the channel that are no packets of its queue.
bool FlowNetwork::carries_acks(ChannelId id) const {
  return sharing_.active_on(id ^ 1) > 0;
}

/// What others than the streams that are followed take of the channel.
const FlowNetwork::Followed& FlowNetwork::followed(ChannelId id) {
  Followed& queue = *followed_queues_[static_cast<std::size_t>(id)];
  if (queue.version == shares_version_) return queue;
  queue.version = shares_version_;
  queue.alone = true;
  std::int64_t others = 0;  // whole numbers: the same whatever the order
  pooled_.clear();
  sharing_.append_active(id, pooled_);
  for (const std::int32_t c : pooled_) {
    const Connection& connection = connection_at(c);  // a fluid may have been a stream there
    if (connection.state == State::kStream && is_followed_on(connection, id)) continue;
    queue.alone = false;
    others += std::llround(kUnits * sharing_.rate(c));
  }
  const std::int32_t f = follower_of_.empty() ? -1 : follower_of_[static_cast<std::size_t>(id)];
  const double capacity = f < 0 ? capacities_[static_cast<std::size_t>(id)]
                                : followers_[static_cast<std::size_t>(f)].rate();
  const bool answers = carries_acks(id);
  const double all = answers ? capacity / (1 + acks_) : capacity;
  queue.line = all;
  queue.rate = std::max(all - static_cast<double>(others) / kUnits,
                        all / std::max<double>(1, static_cast<double>(pooled_.size())));
  if (f < 0) return queue;
  const double part = capacity > 0 ? queue.rate / queue.line
                                   : 1 / std::max<double>(1, static_cast<double>(pooled_.size()));
  queue.line = answers ? 1 / (1 + acks_) : 1;
  queue.rate = queue.alone ? queue.line : queue.line * part;
  return queue;
}

/// Whether nobody else crosses the links of the connection's queues than those that are followed
/// there.
bool FlowNetwork::is_followed_alone(const Connection& connection) {
  return std::ranges::all_of(connection.stops,
                             [&](const Stop& stop) { return followed(stop.channel).alone; });
}

void FlowNetwork::note_drops(FairQueue& packets) {
  for (const std::int32_t c : packets.dropped())
    if (c >= 0) connection_at(c).stream->note_dropped();
  packets.dropped().clear();
}

void FlowNetwork::schedule_queue(ChannelId id) {
  if (id < 0) return;
  Followed& queue = *followed_queues_[static_cast<std::size_t>(id)];
  note_drops(queue.packets);
  const double next = std::max(now_, queue.packets.next_turn());
  if (next == queue.due) return;  // of one instant, what has waited for longer comes first
  queue.due = next;
  if (next == kNever) {
    queue_due_.remove(id);
  } else {
    queue_due_.set(id, next);
  }
}

void FlowNetwork::schedule_queues(const Connection& connection) {
  for (const Stop& stop : connection.stops) schedule_queue(stop.channel);
}

/// Packets of the channel's queue leave it.
void FlowNetwork::on_queue_due(ChannelId id, double until) {
  FairQueue& packets = followed_queues_[static_cast<std::size_t>(id)]->packets;
  const Followed& queue = followed(id);
  followed_queues_[static_cast<std::size_t>(id)]->due = now_;
  while (packets.next_turn() <= until) {
    const FairQueue::Passed passed = packets.take(now_, queue.rate, queue.line);
    note_drops(packets);
    const std::int32_t c = passed.owner;
    Connection& connection = connection_at(c);
    const auto stop = std::ranges::find(connection.stops, Stop{id, passed.flow});
    const auto place = static_cast<std::size_t>(stop - connection.stops.begin());
    connection.stream->pass_queue(passed.packet, passed.departure, place);
    if (connection.state != State::kStream) continue;
    demand(c);
    set_stream_due(c);
  }
  schedule_queue(id);
}

}  // namespace gradwire::sim
