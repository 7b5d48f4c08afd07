#include "sim/flow/per_packet/per_packet_network.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "sim/cluster/channel_draws.h"

namespace gradwire::sim {
namespace {

constexpr double kNanoseconds = 1e9;  // in a second
constexpr double kFarAway = 9e9;      // s: what int64_t of nanoseconds holds
constexpr double kRounding = 0.25;    // ns

using Kind = PacketEvent::Kind;

/// ns: of events until then.
std::int64_t last_until(double seconds) {
  return seconds < kFarAway ? static_cast<std::int64_t>(seconds * kNanoseconds + kRounding)
                            : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

PerPacketNetwork::PerPacketNetwork(const Cluster& cluster, const TransportSettings& transport,
                                   std::uint64_t seed, double clock)
    : cluster_(cluster),
      transport_(transport),
      tcp_(transport),
      seed_(seed),
      phases_(phases_of(tcp_, seed)),
      clock_(clock),
      until_sent_(transport.constants.kernel_recovery ? 0 : 1),
      links_(static_cast<std::size_t>(cluster.channel_count())),
      senders_(static_cast<std::size_t>(cluster.host_count())) {
  tcp_.protocol = TransportSettings::Protocol::kTcp;
}

PacketLink& PerPacketNetwork::open_link(ChannelId id) {
  auto& link = links_[static_cast<std::size_t>(id)];
  if (link) return *link;
  std::shared_ptr<PacketLink::Medium> medium;
  if (cluster_.link_of(id).spec.half_duplex)
    if (const auto& other = links_[static_cast<std::size_t>(id ^ 1)]) medium = other->medium();
  link = std::make_unique<PacketLink>(cluster_, id, transport_, seed_, events_, std::move(medium));
  return *link;
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

PerPacketNetwork::Connection& PerPacketNetwork::add(const Ends& ends) {
  route_.clear();
  cluster_.route(ends.source, ends.destination, route_);
  connections_.push_back(std::make_unique<Connection>());
  Connection& added = *connections_.back();
  added.network = this;
  added.number = static_cast<std::int32_t>(connections_.size()) - 1;
  added.ends = ends;
  return added;
}

std::int32_t PerPacketNetwork::add_datagrams(int source, int destination) {
  Connection& added = add({source, destination, 0});
  added.datagrams = std::make_unique<DatagramFlow>(datagram_way(cluster_, route_, transport_));
  added.entry = enter_way(added, false);
  senders_[static_cast<std::size_t>(source)].datagrams.set_rate(
      cluster_.nominal_rate(route_.front()).value() / 8);
  return added.number;
}

std::int32_t PerPacketNetwork::add_stream(int source, int destination, int beside) {
  Connection& added = add({source, destination, beside});
  const StreamPath& path = paths_.emplace_back(TcpPath(cluster_, route_, tcp_), tcp_, clock_);
  added.stream =
      std::make_unique<TcpStream>(std::shared_ptr<const StreamPath>(std::shared_ptr<void>(), &path),
                                  tcp_, LossSequence(0, {}), LossSequence(0, {}));
  added.stream->set_phases(phases_);
  added.stream->carry_by(added);
  added.entry = enter_way(added, false);
  route_.clear();
  cluster_.route(destination, source, route_);
  added.back = enter_way(added, true);
  return added.number;
}

/// What begins at one instant begins together, when all else that happens then has.
void PerPacketNetwork::move_to(double now) {
  const std::int64_t time = whole_nanoseconds(now);
  if (time == moved_to_) return;
  moved_to_ = time;
  run(now, ended_);
  events_.move_to(time);
}

void PerPacketNetwork::write(double now, std::int32_t c, std::uint64_t id, std::int64_t bytes) {
  move_to(now);
  ++open_;
  Connection& owner = connection(c);
  if (owner.stream) {
    if (owner.unwritten.empty())
      events_.push({.time = events_.now() + until_sent_, .of = c, .kind = Kind::kWrites});
    owner.unwritten.push_back({id, bytes});
    return;
  }
  owner.datagrams->write(id, bytes);
  senders_[static_cast<std::size_t>(owner.ends.source)].datagrams.wake(c, *owner.datagrams);
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

void PerPacketNetwork::cancel(double now, std::int32_t c, std::uint64_t id) {
  move_to(now);
  Connection& owner = connection(c);
  if (owner.stream) {
    send_written(owner);
    owner.stream->cancel(events_.seconds(), id);
  } else {
    owner.datagrams->cancel(id);
    senders_[static_cast<std::size_t>(owner.ends.source)].datagrams.look_again();
  }
  look_at(owner);
}

double PerPacketNetwork::run_ahead(double until) {
  const std::int64_t last = last_until(until);
  while (open_ > 0 && ended_.empty() && !events_.empty() && events_.next_time() <= last)
    handle(events_.pop());
  if (!ended_.empty()) return events_.seconds();
  if (open_ == 0 || events_.empty()) return kNever;
  return static_cast<double>(events_.next_time()) / kNanoseconds;
}

void PerPacketNetwork::run(double until, std::vector<Ended>& ended) {
  const std::int64_t last = last_until(until);
  while (!events_.empty() && events_.next_time() <= last) handle(events_.pop());
  if (&ended == &ended_) return;
  std::ranges::move(ended_, std::back_inserter(ended));
  ended_.clear();
}

void PerPacketNetwork::handle(const PacketEvent& event) {
  switch (event.kind) {
    case Kind::kArrives:
      on_arrival(link(event.of));
      return;
    case Kind::kThrough:
      link(event.of).on_through();
      return;
    case Kind::kWakes:
      link(event.of).on_wake();
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
  }
}

void PerPacketNetwork::enter(const Entry& entry, const PacketLink::Packet& packet) {
  PacketLink& link = *links_[static_cast<std::size_t>(entry.channel)];
  link.push(entry.flow, packet);
  for (const std::int32_t f : link.dropped())
    if (const PacketLink::Flow& flow = link.flow(f); !flow.acknowledges)
      if (Connection& owner = connection(flow.connection); owner.stream)
        owner.stream->note_dropped();
  link.dropped().clear();
}

void PerPacketNetwork::on_arrival(PacketLink& from) {
  const auto [f, packet] = from.on_arrival();
  const PacketLink::Flow& flow = from.flow(f);
  if (from.loses(flow)) return;
  if (flow.next >= 0) {
    enter({flow.next, flow.next_flow}, packet);
    return;
  }
  Connection& owner = connection(flow.connection);
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
  const std::size_t before = ended_.size();
  if (owner.datagrams) {
    for (Ended& each : owner.datagrams->take_ended()) {
      each.connection = owner.number;
      ended_.push_back(std::move(each));
    }
    open_ -= static_cast<std::int64_t>(ended_.size() - before);
    return;
  }
  TcpStream& stream = *owner.stream;
  for (; stream.delivered(events_.seconds()); stream.pop()) {
    const TcpStream::Message& message = stream.front();
    ended_.push_back({owner.number, message.id, message.wire, message.retransmissions});
  }
  open_ -= static_cast<std::int64_t>(ended_.size() - before);
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

std::int64_t PerPacketNetwork::wire_bytes(ChannelId id) const {
  const auto& link = links_[static_cast<std::size_t>(id)];
  return link ? link->wire_bytes() : 0;
}

double PerPacketNetwork::busy(ChannelId id) const {
  const auto& link = links_[static_cast<std::size_t>(id)];
  return link ? link->busy() : 0;
}

}  // namespace gradwire::sim
