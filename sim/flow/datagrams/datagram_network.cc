#include "sim/flow/datagrams/datagram_network.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace gradwire::sim {
namespace {

constexpr double kNanoseconds = 1e9;  // in a second
constexpr double kFarAway = 9e9;      // s: what int64_t of nanoseconds holds
constexpr double kRounding = 0.25;    // ns

using Kind = PacketEvent::Kind;

}  // namespace

DatagramNetwork::DatagramNetwork(const Cluster& cluster, const TransportSettings& transport,
                                 std::uint64_t seed)
    : cluster_(cluster),
      transport_(transport),
      tcp_(transport),
      seed_(seed),
      phases_(phases_of(tcp_, seed)),
      links_(static_cast<std::size_t>(cluster.channel_count())),
      senders_(static_cast<std::size_t>(cluster.host_count())) {
  tcp_.protocol = TransportSettings::Protocol::kTcp;
}

PacketLink& DatagramNetwork::open_link(ChannelId id) {
  auto& link = links_[static_cast<std::size_t>(id)];
  if (link) return *link;
  std::shared_ptr<PacketLink::Medium> medium;
  if (cluster_.link_of(id).spec.half_duplex)
    if (const auto& other = links_[static_cast<std::size_t>(id ^ 1)]) medium = other->medium();
  link = std::make_unique<PacketLink>(cluster_, id, transport_, seed_, events_, std::move(medium));
  return *link;
}

DatagramNetwork::Entry DatagramNetwork::enter_way(std::span<const ChannelId> way,
                                                  std::int32_t connection, bool acknowledges) {
  Entry next;
  for (auto id = way.rbegin(); id != way.rend(); ++id)
    next = {*id, open_link(*id).add_flow({connection, acknowledges, next.channel, next.flow})};
  return next;
}

DatagramNetwork::Connection& DatagramNetwork::add(int source, int destination) {
  route_.clear();
  cluster_.route(source, destination, route_);
  connections_.push_back(std::make_unique<Connection>());
  Connection& added = *connections_.back();
  added.network = this;
  added.number = static_cast<std::int32_t>(connections_.size()) - 1;
  added.source = source;
  added.entry = enter_way(route_, added.number, false);
  return added;
}

std::int32_t DatagramNetwork::add_datagrams(int source, int destination) {
  Connection& added = add(source, destination);
  added.datagrams = std::make_unique<DatagramFlow>(datagram_way(cluster_, route_, transport_));
  senders_[static_cast<std::size_t>(source)].datagrams.set_rate(
      cluster_.nominal_rate(route_.front()).value() / 8);
  return added.number;
}

std::int32_t DatagramNetwork::add_stream(int source, int destination) {
  Connection& added = add(source, destination);
  const StreamPath& path = paths_.emplace_back(TcpPath(cluster_, route_, tcp_), tcp_);
  added.stream =
      std::make_unique<TcpStream>(std::shared_ptr<const StreamPath>(std::shared_ptr<void>(), &path),
                                  tcp_, LossSequence(0, {}), LossSequence(0, {}));
  added.stream->set_phases(phases_);
  added.stream->carry_by(added);
  route_.clear();
  cluster_.route(destination, source, route_);
  added.back = enter_way(route_, added.number, true);
  return added.number;
}

/// What begins at one instant begins together, when all else that happens then has.
void DatagramNetwork::move_to(double now) {
  const std::int64_t time = whole_nanoseconds(now);
  if (time == moved_to_) return;
  moved_to_ = time;
  run(now, ended_);
  events_.move_to(time);
}

void DatagramNetwork::write(double now, std::int32_t c, std::uint64_t id, std::int64_t bytes) {
  move_to(now);
  ++open_;
  Connection& owner = connection(c);
  if (owner.stream) {
    owner.stream->write(events_.seconds(), id, bytes);
    look_at(owner);
    return;
  }
  owner.datagrams->write(id, bytes);
  senders_[static_cast<std::size_t>(owner.source)].datagrams.wake(c, *owner.datagrams);
  schedule(owner.source, events_.now());
}

void DatagramNetwork::cancel(double now, std::int32_t c, std::uint64_t id) {
  move_to(now);
  Connection& owner = connection(c);
  if (owner.stream) {
    owner.stream->cancel(events_.seconds(), id);
  } else {
    owner.datagrams->cancel(id);
    senders_[static_cast<std::size_t>(owner.source)].datagrams.look_again();
  }
  look_at(owner);
}

double DatagramNetwork::next_event() const {
  if (!ended_.empty()) return events_.seconds();
  if (open_ == 0 || events_.empty()) return kNever;
  return static_cast<double>(events_.next_time()) / kNanoseconds;
}

void DatagramNetwork::run(double until, std::vector<Ended>& ended) {
  const std::int64_t last = until < kFarAway
                                ? static_cast<std::int64_t>(until * kNanoseconds + kRounding)
                                : std::numeric_limits<std::int64_t>::max();
  while (!events_.empty() && events_.next_time() <= last) handle(events_.pop());
  if (&ended == &ended_) return;
  std::ranges::move(ended_, std::back_inserter(ended));
  ended_.clear();
}

void DatagramNetwork::handle(const PacketEvent& event) {
  switch (event.kind) {
    case Kind::kArrives:
      on_arrival(event);
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
    case Kind::kEnds:
      connection(event.of).datagrams->give_up(events_.seconds());
      look_at(connection(event.of));
      return;
    case Kind::kRuns:
      if (connection(event.of).due_order == event.order) run_stream(connection(event.of));
      return;
  }
}

void DatagramNetwork::enter(const Entry& entry, const PacketLink::Packet& packet) {
  PacketLink& link = *links_[static_cast<std::size_t>(entry.channel)];
  link.push(entry.flow, packet);
  for (const std::int32_t f : link.dropped())
    if (const PacketLink::Flow& flow = link.flow(f); !flow.acknowledges)
      if (Connection& owner = connection(flow.connection); owner.stream)
        owner.stream->note_dropped();
  link.dropped().clear();
}

void DatagramNetwork::on_arrival(const PacketEvent& event) {
  PacketLink& from = link(event.of);
  if (from.loses()) return;
  const PacketLink::Flow flow = from.flow(event.flow);
  if (flow.next >= 0) {
    enter({flow.next, flow.next_flow}, {event.number, event.wire, event.sent});
    return;
  }
  Connection& owner = connection(flow.connection);
  if (owner.datagrams) {
    owner.datagrams->arrive(event.number);
  } else if (flow.acknowledges) {
    owner.stream->acknowledge(events_.seconds(), static_cast<std::uint64_t>(event.number));
  } else {
    owner.stream->arrive(events_.seconds(), event.number, event.wire, event.sent);
    send_acks(owner);
  }
  look_at(owner);
}

void DatagramNetwork::schedule(std::int32_t host, std::int64_t time) {
  senders_[static_cast<std::size_t>(host)].order =
      events_.push({.time = time, .of = host, .kind = Kind::kSends});
}

void DatagramNetwork::on_send(std::int32_t host, std::uint64_t order) {
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

void DatagramNetwork::Connection::carry(double, std::int64_t segment, std::int32_t wire,
                                        std::int32_t sent) {
  network->enter(entry, {segment, wire, sent});
}

void DatagramNetwork::send_acks(Connection& owner) {
  const auto bytes = static_cast<std::int32_t>((tcp_.wire_segment - tcp_.segment).count());
  for (; owner.acknowledged < owner.stream->acknowledgements(); ++owner.acknowledged)
    enter(owner.back, {static_cast<std::int64_t>(owner.acknowledged), bytes, 0});
}

void DatagramNetwork::run_stream(Connection& owner) {
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
void DatagramNetwork::look_at(Connection& owner) {
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
  const double next = std::min(stream.next_event(), stream.ack_deadline());
  if (next == owner.due) return;
  owner.due = next;
  owner.due_order = std::numeric_limits<std::uint64_t>::max();
  if (next >= kFarAway) return;
  owner.due_order = events_.push({.time = std::max(events_.now(), whole_nanoseconds(next)),
                                  .of = owner.number,
                                  .kind = Kind::kRuns});
}

std::int64_t DatagramNetwork::wire_bytes(ChannelId id) const {
  const auto& link = links_[static_cast<std::size_t>(id)];
  return link ? link->wire_bytes() : 0;
}

double DatagramNetwork::busy(ChannelId id) const {
  const auto& link = links_[static_cast<std::size_t>(id)];
  return link ? link->busy() : 0;
}

}  // namespace gradwire::sim
