#include "sim/flow/cells/cell_network.h"

#include <algorithm>

#include "base/error.h"
#include "sim/cluster/channel_draws.h"
#include "sim/flow/cells/lte_air.h"
#include "sim/flow/cells/wifi_air.h"

namespace gradwire::sim {
namespace {

constexpr std::uint32_t kAirDraws = kFirstReservedTensor + 0x10000009u;
constexpr double kUntilSent = 1e-9;  ///< s: ns-3's socket sends what it is given a nanosecond later

/// s: from when on a station is out of range for ever; infinite: never.
double leaves_at(const Link& link) {
  double time = CellNetwork::kNever;
  for (const RateSchedulePtr& way : {link.spec.schedule, link.spec.schedule_back}) {
    if (link.cell < 0 || !way || way->pieces().back().rate.value() > 0) continue;
    time = std::min(time, way->pieces().back().begin.value());
  }
  return time;
}

}  // namespace

CellNetwork::CellNetwork(const Cluster& cluster, const TransportSettings& transport,
                         std::uint64_t seed)
    : cluster_(cluster),
      transport_(transport),
      seed_(seed),
      phases_(phases_of(transport_, seed)),
      places_(cluster.links().size()),
      wires_(static_cast<std::size_t>(cluster.channel_count())),
      sent_(static_cast<std::size_t>(cluster.channel_count())) {
  std::vector<std::vector<const Link*>> links(cluster.cells().size());
  for (std::size_t l = 0; l < places_.size(); ++l) {
    const Link& link = cluster.links()[l];
    if (link.cell < 0) continue;
    auto& of_cell = links[static_cast<std::size_t>(link.cell)];
    places_[l] = {link.cell, of_cell.size()};
    of_cell.push_back(&link);
  }
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Cell& cell = cluster.cells()[i];
    const RandomStream draws{seed, 0, static_cast<std::uint32_t>(i), kAirDraws};
    if (cell.kind == Cell::Kind::kWifi) {
      airs_.push_back(std::make_unique<WifiAir>(cell, std::move(links[i]), draws));
    } else {
      airs_.push_back(std::make_unique<LteAir>(cell, std::move(links[i]), draws));
    }
  }
  set_clock(clock_);
}

bool CellNetwork::is_needed(const Cluster& cluster, std::span<const ChannelId> route) {
  return std::ranges::any_of(route, [&](ChannelId id) { return cluster.link_of(id).cell >= 0; });
}

CellWire* CellNetwork::wire_of(ChannelId id) {
  const Link& link = cluster_.link_of(id);
  if (link.cell >= 0) return nullptr;
  const ChannelId first = link.spec.half_duplex ? id / 2 * 2 : id;
  auto& wire = wires_[static_cast<std::size_t>(first)];
  if (!wire) {
    wire = std::make_unique<CellWire>(link, first, transport_,
                                      channel_stream(seed_, first, kJitterDraws));
    used_.push_back(wire.get());
  }
  return wire.get();
}

CellNetwork::Connection& CellNetwork::add_on(std::span<const ChannelId> route, LossSequence data,
                                             LossSequence acks) {
  const auto number = static_cast<std::int32_t>(connections_.size());
  connections_.push_back(std::make_unique<Connection>());
  nodes_.emplace_back();
  Connection& added = *connections_.back();
  added.network = this;
  added.number = number;
  added.ways[0].assign(route.begin(), route.end());
  added.ways[1] = way_back(route);
  for (int back = 0; back < 2; ++back) {
    for (const ChannelId id : added.ways[back]) {
      CellWire* wire = wire_of(id);
      added.flows[back].push_back(wire ? wire->add_flow() : -1);
      added.until = std::min(added.until, leaves_at(cluster_.link_of(id)));
    }
  }
  added.losses.push_back(std::move(data));
  added.losses.push_back(std::move(acks));
  return added;
}

std::int32_t CellNetwork::add(std::unique_ptr<TcpStream> stream, std::span<const ChannelId> route,
                              LossSequence data, LossSequence acks) {
  Connection& added = add_on(route, std::move(data), std::move(acks));
  added.stream = std::move(stream);
  added.stream->set_phases(phases_);
  added.stream->carry_by(added);
  return added.number;
}

void CellNetwork::Connection::carry(double now, std::int64_t segment, std::int32_t wire,
                                    std::int32_t sent) {
  network->enter(now, {.connection = number, .number = segment, .wire = wire, .sent = sent});
}

/// The packet comes to the next channel of its way.
void CellNetwork::enter(double now, const CellPacket& packet) {
  Connection& owner = connection(packet.connection);
  const int back = packet.acknowledges;
  const auto hop = static_cast<std::size_t>(packet.hop);
  const ChannelId id = owner.ways[back][hop];
  if (packet.number >= 0) sent_[static_cast<std::size_t>(id)] += packet.wire;
  bool passes = true;
  if (CellWire* wire = wire_of(id)) {
    if (packet.number < 0) {
      coming_.push({wire->arrival_before_start(now, packet.wire), 0, packet});
      return;
    }
    passes = wire->push(clock_.at(now), owner.flows[back][hop], packet, passed_);
    take_passed();
  } else {
    const Place& place = places_[static_cast<std::size_t>(id / 2)];
    passes =
        airs_[static_cast<std::size_t>(place.cell)]->push(now, place.station, id % 2 == 0, packet);
  }
  if (!passes && back == 0 && owner.stream) owner.stream->note_dropped();
}

/// What has passed a wire, on the session's clock, arrives in time.
void CellNetwork::take_passed() {
  for (const auto& [time, packet] : passed_) coming_.push({own(time), 0, packet});
  passed_.clear();
}

/// It has passed a channel.
void CellNetwork::leave(double now, CellPacket packet) {
  Connection& owner = connection(packet.connection);
  const int back = packet.acknowledges;
  const auto hop = static_cast<std::size_t>(packet.hop);
  // What a way loses it loses on its first wire; of handshakes nothing.
  const auto& flows = owner.flows[back];
  const auto first = std::ranges::find_if(flows, [](std::int32_t flow) { return flow >= 0; });
  if (packet.number >= 0 && first - flows.begin() == packet.hop &&
      owner.losses[static_cast<std::size_t>(back)].next())
    return;
  ++packet.hop;
  if (hop + 1 < owner.ways[back].size()) {
    enter(now, packet);
  } else {
    come(now, packet);
  }
}

void CellNetwork::come(double now, const CellPacket& packet) {
  Connection& owner = connection(packet.connection);
  if (packet.number < 0) return shake_hands(now, packet);
  if (owner.datagrams) {
    owner.datagrams->arrive(packet.number);
  } else if (packet.acknowledges) {
    owner.stream->acknowledge(now, static_cast<std::uint64_t>(packet.number));
  } else {
    owner.stream->arrive(now, packet.number, packet.wire, packet.sent);
    send_acks(now, owner);
  }
  touched_.push_back(packet.connection);
}

void CellNetwork::send_acks(double now, Connection& owner) {
  for (; owner.acknowledged < owner.stream->acknowledgements(); ++owner.acknowledged)
    enter(now, {.connection = owner.number,
                .acknowledges = true,
                .number = static_cast<std::int64_t>(owner.acknowledged),
                .wire = header()});
}

void CellNetwork::write(double now, std::int32_t c, std::uint64_t id, std::int64_t bytes) {
  if (under_way_++ == 0) wake_up(now);
  const double wait = connection(c).datagrams ? 0 : kUntilSent;
  written_.push_back({own(now) + wait, c, id, bytes});
}

/// Messages of one instant go out together.
void CellNetwork::flush() {
  std::vector<Written> written;
  written.swap(written_);
  for (std::size_t i = 0; i < written.size(); ++i) {
    const Written& each = written[i];
    Connection& owner = connection(each.connection);
    touched_.push_back(each.connection);
    if (owner.datagrams) {
      owner.datagrams->write(each.id, each.bytes);
      wake(each.time, owner);
      continue;
    }
    const bool more =
        std::any_of(written.begin() + static_cast<std::ptrdiff_t>(i) + 1, written.end(),
                    [&](const Written& other) { return other.connection == each.connection; });
    owner.stream->write(each.time, each.id, each.bytes, more);
  }
}

void CellNetwork::cancel(double now, std::int32_t c, std::uint64_t id) {
  flush();
  if (Connection& owner = connection(c); owner.datagrams) {
    owner.datagrams->cancel(id);
    senders_[static_cast<std::size_t>(owner.host)].look_again();
  } else {
    owner.stream->cancel(own(now), id);
  }
  touched_.push_back(c);
}

double CellNetwork::next_event() const {
  const double next = next_own();
  return under_way_ == 0 && next > rests_at_ ? kNever : clock_.at(next);
}

/// On its own clock.
double CellNetwork::next_own() const {
  const double next = next_but_written();
  if (written_.empty() || next <= written_.front().time + Air::kSameTime) return next;
  return written_.front().time;
}

double CellNetwork::next_but_written() const {
  double next = coming_.empty() ? kNever : coming_.top().time;
  for (const IndexedHeap* heap : {&due_, &sending_})
    if (!heap->empty()) next = std::min(next, heap->first_time());
  for (const auto& air : airs_) next = std::min(next, air->next_event());
  for (const CellWire* wire : used_) next = std::min(next, own(wire->next_event()));
  return next;
}

/// What has arrived at the connection's ends, and when it does something next.
void CellNetwork::look_at(double now, Connection& one, std::vector<Ended>& ended) {
  if (one.datagrams) return look_at_datagrams(one, ended);
  TcpStream& stream = *one.stream;
  while (stream.delivered(now)) {
    const TcpStream::Message& message = stream.front();
    ended.push_back({one.number, message.id, message.wire, message.retransmissions});
    stream.pop();
  }
  const double next = std::min(stream.next_event(), stream.ack_deadline());
  if (next < kNever && clock_.at(now) < one.until) {  // what can never arrive is not tried again
    due_.set(one.number, std::max(now, next));
  } else {
    due_.remove(one.number);
  }
}

void CellNetwork::run_next(double now, std::vector<Ended>& ended) {
  if (!written_.empty() && written_.front().time <= now && next_but_written() > now) {
    flush();
  } else if (!coming_.empty() && coming_.top().time <= now) {
    leave(now, coming_.pop().packet);
  } else if (!due_.empty() && due_.first_time() <= now) {
    due_.take_until(now, batch_);
    for (const IndexedHeap::Entry& entry : batch_) {
      Connection& one = connection(entry.number);
      touched_.push_back(entry.number);
      if (one.datagrams) {
        one.datagrams->give_up(now);
        continue;
      }
      if (one.stream->ack_deadline() <= now) {
        one.stream->send_delayed_ack();
        send_acks(now, one);
      }
      one.stream->run(now);
    }
  } else if (!sending_.empty() && sending_.first_time() <= now) {
    send_datagrams(now);
  } else {
    for (CellWire* wire : used_) {
      if (own(wire->next_event()) > now) continue;
      wire->run(std::max(clock_.at(now), wire->next_event()), passed_);
      take_passed();
    }
    for (const auto& air : airs_) {
      if (air->next_event() > now) continue;
      through_.clear();
      air->run(through_);
      for (const CellPacket& packet : through_) leave(now, packet);
    }
  }
  for (const std::int32_t c : touched_) look_at(now, connection(c), ended);
  touched_.clear();
}

void CellNetwork::run(double until, std::vector<Ended>& ended) {
  const std::size_t before = ended.size();
  while (next_event() <= until) {
    now_ = std::max(now_, next_own());
    run_next(now_, ended);
  }
  if (ended.size() > before) rests_at_ = now_ + kRest;
  under_way_ -= static_cast<std::int64_t>(ended.size() - before);
}

double CellNetwork::busy(ChannelId id) const {
  const Link& link = cluster_.link_of(id);
  if (link.cell >= 0) return airs_[static_cast<std::size_t>(link.cell)]->busy(id % 2 == 0);
  const ChannelId first = link.spec.half_duplex ? id / 2 * 2 : id;
  const auto& wire = wires_[static_cast<std::size_t>(first)];
  return wire ? wire->busy() : 0;
}

}  // namespace gradwire::sim
