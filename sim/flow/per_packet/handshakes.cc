// Cells: their airs, how connections open over them, and when their clock stands.
#include <algorithm>
#include <cmath>

#include "sim/flow/per_packet/air/lte_air.h"
#include "sim/flow/per_packet/air/wifi_air.h"
#include "sim/flow/per_packet/per_packet_network.h"

namespace gradwire::sim {
namespace {

using Packet = PacketLink::Packet;

constexpr std::uint32_t kAirDraws = kFirstReservedTensor + 0x10000009u;
constexpr std::int64_t kNanosecondsASecond = 1'000'000'000;  // ns
constexpr std::int64_t kBegin = kNanosecondsASecond;         // as a subframe begins
/// How long before the first subframe the first handshakes begin; time stamps are ahead by it.
constexpr std::int64_t kInTime = 1;
constexpr std::int64_t kMostOpening = 60 * kNanosecondsASecond;
constexpr std::int32_t kOptions = 4;   // bytes that a handshake's first two packets have more
constexpr double kAirRounding = 0.01;  // ns

double seconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / static_cast<double>(kNanosecondsASecond);
}

}  // namespace

void PerPacketNetwork::open_airs() {
  clock_ = seconds(kInTime);
  std::vector<std::vector<const Link*>> links(cluster_.cells().size());
  for (const Link& link : cluster_.links()) {
    stations_.push_back(link.cell < 0 ? 0 : links[static_cast<std::size_t>(link.cell)].size());
    if (link.cell >= 0) links[static_cast<std::size_t>(link.cell)].push_back(&link);
  }
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Cell& cell = cluster_.cells()[i];
    const RandomStream draws{seed_, 0, static_cast<std::uint32_t>(i), kAirDraws};
    CellAir& added = airs_.emplace_back();
    if (cell.kind == Cell::Kind::kWifi)
      added.air = std::make_unique<WifiAir>(cell, std::move(links[i]), draws);
    else
      added.air = std::make_unique<LteAir>(cell, std::move(links[i]), draws);
  }
  rests_at_ = kBegin;
  set_clock({.behind = seconds(kBegin)});
}

/// Something may have changed when its air does something next.
void PerPacketNetwork::schedule_air(std::int32_t cell) {
  CellAir& one = airs_[static_cast<std::size_t>(cell)];
  const double next = one.air->next_event() * static_cast<double>(kNanosecondsASecond);
  if (next == kNever) {
    one.event = {};
    return;
  }
  const std::int64_t time =
      std::max(events_.now(), static_cast<std::int64_t>(std::ceil(next - kAirRounding)));
  if (time == one.event.time) return;
  one.event.time = time;
  one.event.order = events_.push({.time = time, .of = cell, .kind = PacketEvent::Kind::kAir});
}

void PerPacketNetwork::on_air(std::int32_t cell, std::uint64_t order) {
  CellAir& one = airs_[static_cast<std::size_t>(cell)];
  if (one.event.time < 0 || order != one.event.order) return;  // an earlier one took its place
  one.event = {};
  std::vector<AirPacket> through;
  through.swap(through_);
  one.air->run(through);
  schedule_air(cell);
  for (const AirPacket& packet : through) come(link(packet.channel), {packet.flow, packet});
  through.clear();
  through.swap(through_);
}

void PerPacketNetwork::set_clock(const SessionClock& clock) {
  events_.set_clock(clock);
  for (std::size_t i = 0; i < airs_.size(); ++i) {
    airs_[i].air->set_clock(clock);
    schedule_air(static_cast<std::int32_t>(i));
  }
}

/// Something begins: where all had come to rest, no time has passed since.
void PerPacketNetwork::wake_up() {
  if (airs_.empty() || !under_way_.empty() || own(now_) <= seconds(rests_at_)) return;
  run_until(rests_at_);
  set_clock({.behind = seconds(rests_at_) - now_});
}

/// Connections that have not yet open, in no time of the session's, where nothing is under way.
void PerPacketNetwork::shake_hands() {
  std::vector<Connection*> opening;
  for (const auto& each : connections_)
    if (each->stream && !std::exchange(each->handshake.is_begun, true))
      opening.push_back(each.get());
  if (opening.empty() || !under_way_.empty()) return;
  wake_up();
  const std::int64_t begin =
      events_.now() == 0 ? kBegin - kInTime : std::max(events_.now(), whole_nanoseconds(own(now_)));
  run_until(begin);
  events_.move_to(begin);
  set_clock({.behind = seconds(begin) - now_, .stands_at = now_});
  opening_ = static_cast<std::int64_t>(opening.size());
  for (Connection* each : opening) send_first(*each, false);
  std::int64_t until = begin + kMostOpening;
  while (!events_.empty() && events_.next_time() <= until) {
    const bool opens = opening_ > 0;
    handle(events_.pop());
    if (opens && opening_ == 0) until = events_.now() + kRest;
  }
  ended_.clear();  // what was cancelled has arrived
  opening_ = 0;
  events_.move_to(until);
  rests_at_ = until;
  set_clock({.behind = seconds(until) - now_});
}

/// One of the first two packets of a handshake, sent again where nothing comes of it.
void PerPacketNetwork::send_first(Connection& owner, bool answers) {
  Handshake& shakes = owner.handshake;
  if (opening_ == 0 || (answers ? shakes.is_accepted : shakes.is_answered)) return;
  const int tries = shakes.tries[answers]++;
  const double wait = tcp_.initial_rto.value() * std::exp2(tries);
  events_.push({.time = events_.now() + whole_nanoseconds(wait),
                .of = 2 * owner.number + (answers ? 1 : 0),
                .kind = PacketEvent::Kind::kOpens});
  if (tries == 0 && !answers) shakes.since = events_.seconds();
  enter(answers ? owner.back : owner.entry, {Packet::kFirst, header() + kOptions, tries});
}

/// A packet of a handshake is there: the first one, the answer, or what acknowledges that.
void PerPacketNetwork::on_handshake(Connection& owner, bool answers, const Packet& packet) {
  Handshake& shakes = owner.handshake;
  if (packet.number == Packet::kThird) {
    opening_ -= !std::exchange(shakes.is_accepted, true);
  } else if (answers) {
    if (!std::exchange(shakes.is_answered, true)) {
      owner.stream->note_handshake(shakes.since, events_.seconds());
      owner.stream->set_phases(phases_);
    }
    enter(owner.entry, {Packet::kThird, header(), 0});
  } else if (!std::exchange(shakes.has_come, true)) {
    // Its time stamp is what the answers echo, however often they are sent.
    shakes.since += tcp_.initial_rto.value() * (std::exp2(packet.sent) - 1);
    send_first(owner, true);
  } else {  // it is sent again for the asking
    enter(owner.back, {Packet::kFirst, header() + kOptions, 0});
  }
}

}  // namespace gradwire::sim
