#include "sim/flow/per_packet/per_packet_network.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "sim/cluster/channel_draws.h"
#include "sim/cluster/handshake.h"
#include "sim/flow/per_packet/air/air_link.h"
#include "sim/flow/per_packet/wire_link.h"
#include "sim/graph/host_pairs.h"

namespace gradwire::sim {
namespace {

constexpr double kFarAway = 9e9;    // s: what int64_t of nanoseconds holds
constexpr double kRounding = 0.25;  // ns

using Kind = PacketEvent::Kind;

/// ns: of events until then.
std::int64_t last_until(double seconds) {
  return seconds < kFarAway ? static_cast<std::int64_t>(seconds * kNanoseconds + kRounding)
                            : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

PerPacketNetwork::PerPacketNetwork(const Cluster& cluster, const TransportSettings& transport,
                                   std::uint64_t seed)
    : cluster_(cluster),
      transport_(transport),
      tcp_(transport),
      seed_(seed),
      phases_(phases_of(tcp_, seed)),
      clock_(-1),
      until_sent_(transport.constants.kernel_recovery ? 0 : 1),
      links_(static_cast<std::size_t>(cluster.channel_count())),
      senders_(static_cast<std::size_t>(cluster.host_count())) {
  tcp_.protocol = TransportSettings::Protocol::kTcp;
  if (!cluster.cells().empty())
    open_airs();
  else if (transport.protocol == tcp_.protocol)
    clock_ = clock_at_start(cluster, transport);
}

PacketLink& PerPacketNetwork::open_link(ChannelId id) {
  auto& link = links_[static_cast<std::size_t>(id)];
  if (!link) link = new_link(id);
  return *link;
}

std::unique_ptr<PacketLink> PerPacketNetwork::new_link(ChannelId id) {
  if (const int cell = cluster_.link_of(id).cell; cell >= 0)
    return std::make_unique<AirLink>(cluster_, id, seed_, events_,
                                     *airs_[static_cast<std::size_t>(cell)].air,
                                     stations_[static_cast<std::size_t>(id / 2)]);
  std::shared_ptr<WireLink::Medium> medium;
  if (cluster_.link_of(id).spec.half_duplex)
    if (const auto& other = links_[static_cast<std::size_t>(id ^ 1)])
      medium = static_cast<const WireLink&>(*other).medium();
  return std::make_unique<WireLink>(cluster_, id, transport_, seed_, events_, std::move(medium));
}

/// The way of its packets over route_. What TCP loses each connection loses by draws of its own.
PerPacketNetwork::Entry PerPacketNetwork::enter_way(const Connection& owner, bool acknowledges) {
  const auto source =
      static_cast<std::uint32_t>(owner.ends.source + owner.ends.beside * cluster_.host_count());
  const auto destination = static_cast<std::uint32_t>(owner.ends.destination);
  Entry next;
  for (auto id = route_.rbegin(); id != route_.rend(); ++id) {
    const PacketLink::Flow flow{owner.number, acknowledges, next.channel, next.flow};
    PacketLink& link = open_link(*id);
    next = {*id, owner.stream ? link.add_flow(flow, connection_losses(seed_, *id, source,
                                                                      destination, acknowledges))
                              : link.add_flow(flow)};
  }
  return next;
}

PerPacketNetwork::Connection& PerPacketNetwork::connect(int source, int destination, int beside) {
  const std::int32_t c = table_.find_or_add(source + beside * cluster_.host_count(), destination);
  if (c < static_cast<std::int32_t>(connections_.size())) return connection(c);
  return open({source, destination, beside});
}

PerPacketNetwork::Connection& PerPacketNetwork::open(const Ends& ends) {
  GRADWIRE_ASSERT(ends.beside <= transport_.connections);
  route_.clear();
  cluster_.route(ends.source, ends.destination, route_);
  connections_.push_back(std::make_unique<Connection>());
  Connection& added = *connections_.back();
  added.network = this;
  added.number = static_cast<std::int32_t>(connections_.size()) - 1;
  added.ends = ends;
  if (transport_.protocol == tcp_.protocol || ends.beside > 0)
    open_stream(added);
  else
    open_datagrams(added);
  return added;
}

void PerPacketNetwork::open_datagrams(Connection& added) {
  added.datagrams = std::make_unique<DatagramFlow>(datagram_way(cluster_, route_, transport_));
  added.entry = enter_way(added, false);
  senders_[static_cast<std::size_t>(added.ends.source)].datagrams.set_rate(
      cluster_.nominal_rate(route_.front()).value() / 8);
}

void PerPacketNetwork::open_stream(Connection& added) {
  const StreamPath& path = paths_.emplace_back(TcpPath(cluster_, route_, tcp_), tcp_, clock_);
  added.stream = std::make_unique<TcpStream>(
      std::shared_ptr<const StreamPath>(std::shared_ptr<void>(), &path), tcp_);
  added.stream->set_phases(phases_);
  added.stream->carry_by(added);
  added.entry = enter_way(added, false);
  route_.clear();
  cluster_.route(added.ends.destination, added.ends.source, route_);
  added.back = enter_way(added, true);
}

/// Connections over cells open before anything is sent.
void PerPacketNetwork::prepare(const GraphTemplate& graph, std::span<const Bytes>) {
  if (airs_.empty()) return;
  const int beside = transport_.protocol == tcp_.protocol ? transport_.connections : 1;
  for (const HostPair& pair : pairs_of(graph))
    for (int i = 0; i < beside; ++i) connect(pair.source, pair.destination, i);
  shake_hands();
}

/// What begins at one instant begins together, when all else that happens then has.
void PerPacketNetwork::move_to_now() {
  wake_up();
  const std::int64_t time = whole_nanoseconds(own(now_));
  if (time == moved_to_) return;
  moved_to_ = time;
  run_until(last_until(own(now_)));
  events_.move_to(time);
}

void PerPacketNetwork::write(Connection& owner, TransferId id, Bytes payload) {
  GRADWIRE_ASSERT(payload.count() > 0);
  move_to_now();
  under_way_[id] = owner.number;
  if (owner.stream) {
    if (owner.unwritten.empty())
      events_.push(
          {.time = events_.now() + until_sent_, .of = owner.number, .kind = Kind::kWrites});
    owner.unwritten.push_back({id, payload.count()});
    return;
  }
  owner.datagrams->write(id, payload.count());
  senders_[static_cast<std::size_t>(owner.ends.source)].datagrams.wake(owner.number,
                                                                       *owner.datagrams);
  schedule(owner.ends.source, events_.now());
}

/// Messages of one connection that come at one instant go out together, in full segments.
void PerPacketNetwork::send_written(Connection& owner) {
  for (std::size_t i = 0; i < owner.unwritten.size(); ++i)
    owner.stream->write(events_.seconds(), owner.unwritten[i].id, owner.unwritten[i].bytes,
                        i + 1 < owner.unwritten.size());
  owner.unwritten.clear();
  look_at(owner);
}

/// What it has sent arrives all the same.
void PerPacketNetwork::cancel(TransferId id) {
  const auto found = under_way_.find(id);
  if (found == under_way_.end()) return;
  move_to_now();
  Connection& owner = connection(found->second);
  under_way_.erase(found);
  if (owner.stream) {
    send_written(owner);
    owner.stream->cancel(events_.seconds(), id);
  } else {
    owner.datagrams->cancel(id);
    senders_[static_cast<std::size_t>(owner.ends.source)].datagrams.look_again();
  }
  look_at(owner);
}

void PerPacketNetwork::run_until(std::int64_t time) {
  while (!events_.empty() && events_.next_time() <= time) handle(events_.pop());
}

void PerPacketNetwork::advance(Seconds until, std::vector<Delivery>& delivered) {
  const std::size_t before = delivered.size();
  const std::int64_t last = last_until(own(until.value()));
  delivered_.clear();
  for (;;) {
    while (ended_.empty() && !under_way_.empty() && !events_.empty() && events_.next_time() <= last)
      handle(events_.pop());
    if (ended_.empty()) break;
    now_ = std::max(now_, events_.clock().at(events_.seconds()));
    run_until(events_.now());
    deliver(delivered);
    if (delivered.size() > before) return;
  }
  if (until < kForever) now_ = std::max(now_, until.value());
}

/// All that has ended, but what was cancelled.
void PerPacketNetwork::deliver(std::vector<Delivery>& delivered) {
  delivered_.swap(ended_);
  ended_.clear();
  rests_at_ = events_.now() + kRest;
  for (const EndedMessage& each : delivered_)
    if (under_way_.erase(each.id) > 0)
      delivered.push_back({.id = each.id,
                           .time = Seconds(now_),
                           .wire = Bytes(each.wire),
                           .retransmissions = each.retransmissions,
                           .missing = each.missing});
}

void PerPacketNetwork::handle(const PacketEvent& event) {
  switch (event.kind) {
    case Kind::kArrives:
      come(link(event.of), static_cast<WireLink&>(link(event.of)).on_arrival());
      return;
    case Kind::kThrough:
      static_cast<WireLink&>(link(event.of)).on_through();
      return;
    case Kind::kWakes:
      static_cast<WireLink&>(link(event.of)).on_wake();
      return;
    case Kind::kSends:
      on_send(event.of, event.order);
      return;
    case Kind::kWrites:
      send_written(connection(event.of));
      return;
    case Kind::kEnds:
      connection(event.of).datagrams->give_up(events_.seconds());
      look_at(connection(event.of));
      return;
    case Kind::kRuns:
      on_timer(connection(event.of), event.order);
      return;
    case Kind::kAir:
      on_air(event.of, event.order);
      return;
    case Kind::kOpens:
      send_first(connection(event.of / 2), event.of % 2 == 1);
      return;
  }
}

void PerPacketNetwork::enter(const Entry& entry, const PacketLink::Packet& packet) {
  link(entry.channel).push(entry.flow, packet);
  if (const int cell = cluster_.link_of(entry.channel).cell; cell >= 0) schedule_air(cell);
}

/// A packet comes to the end of a link.
void PerPacketNetwork::come(PacketLink& from, const PacketLink::Arrival& arrival) {
  const auto& [f, packet] = arrival;
  const PacketLink::Flow& flow = from.flow(f);
  if (packet.number >= 0 && from.loses(flow)) return;
  if (flow.next >= 0) {
    enter({flow.next, flow.next_flow}, packet);
    return;
  }
  Connection& owner = connection(flow.connection);
  if (packet.number < 0) return on_handshake(owner, flow.acknowledges, packet);
  if (owner.datagrams) {
    owner.datagrams->arrive(packet.number);
  } else if (flow.acknowledges) {
    owner.stream->acknowledge(events_.seconds(), static_cast<std::uint64_t>(packet.number));
  } else {
    owner.stream->arrive(events_.seconds(), packet.number, packet.wire, packet.sent);
    send_acks(owner);
  }
  look_at(owner);
}

void PerPacketNetwork::schedule(std::int32_t host, std::int64_t time) {
  senders_[static_cast<std::size_t>(host)].order =
      events_.push({.time = time, .of = host, .kind = Kind::kSends});
}

void PerPacketNetwork::on_send(std::int32_t host, std::uint64_t order) {
  Sender& sender = senders_[static_cast<std::size_t>(host)];
  if (sender.order != order) return;  // it was woken since
  Datagram sent;
  const std::int32_t c = sender.datagrams.send(events_.seconds(), sent);
  if (c >= 0) {
    Connection& owner = connection(c);
    enter(owner.entry, {sent.number, sent.wire, 0});
    if (sent.due < kNever)
      events_.push({.time = whole_nanoseconds(sent.due), .of = c, .kind = Kind::kEnds});
  }
  const double next = sender.datagrams.next_event();
  if (next < kNever) schedule(host, std::max(events_.now(), whole_nanoseconds(next)));
}

void PerPacketNetwork::Connection::carry(double, std::int64_t segment, std::int32_t wire,
                                         std::int32_t sent) {
  network->enter(entry, {segment, wire, sent});
}

void PerPacketNetwork::send_acks(Connection& owner) {
  for (; owner.acknowledged < owner.stream->acknowledgements(); ++owner.acknowledged)
    enter(owner.back, {static_cast<std::int64_t>(owner.acknowledged),
                       owner.stream->ack_wire(owner.acknowledged), 0});
}

void PerPacketNetwork::run_stream(Connection& owner) {
  const double now = std::max(events_.seconds(), owner.due);
  if (owner.stream->ack_deadline() <= now) {
    owner.stream->send_delayed_ack();
    send_acks(owner);
  }
  owner.stream->run(now);
  owner.due = kNever;
  look_at(owner);
}

/// What has ended at the connection's ends, and when it does something next.
void PerPacketNetwork::look_at(Connection& owner) {
  if (owner.datagrams) {
    std::ranges::move(owner.datagrams->take_ended(), std::back_inserter(ended_));
    return;
  }
  TcpStream& stream = *owner.stream;
  for (; stream.delivered(events_.seconds()); stream.pop()) {
    const TcpStream::Message& message = stream.front();
    ended_.push_back({message.id, message.wire, message.retransmissions});
  }
  set_timer(owner, std::min(stream.next_event(), stream.ack_deadline()));
}

void PerPacketNetwork::set_timer(Connection& owner, double next) {
  if (next == owner.due) return;
  owner.due = next;
  owner.due_at = {};
  if (next >= kFarAway) return;
  owner.due_at = events_.reserve(std::max(events_.now(), whole_nanoseconds(next)));
  if (owner.event.time >= 0 && owner.event.time <= owner.due_at.time) return;
  owner.event = owner.due_at;
  events_.push({.of = owner.number, .kind = Kind::kRuns}, owner.event);
}

void PerPacketNetwork::on_timer(Connection& owner, std::uint64_t order) {
  if (order != owner.event.order) return;  // an earlier one took its place
  owner.event = std::exchange(owner.due_at, {});
  if (owner.event.time < 0) return;
  if (order != owner.event.order) {
    owner.due_at = owner.event;
    events_.push({.of = owner.number, .kind = Kind::kRuns}, owner.event);
    return;
  }
  owner.event = {};
  run_stream(owner);
}

std::vector<ChannelRecord> PerPacketNetwork::channels() const {
  std::vector<ChannelRecord> records(links_.size());
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (const auto& link = links_[i])
      records[i] = {Bytes(link->wire_bytes()), Seconds(link->busy())};
  return records;
}

}  // namespace gradwire::sim
