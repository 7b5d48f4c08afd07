// The clock of a cell network: how its connections open, and when it stands.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "sim/flow/cells/cell_network.h"

namespace gradwire::sim {
namespace {

constexpr std::int64_t kFirst = -1, kThird = -2;  ///< numbers of a handshake's packets
constexpr std::int32_t kOptions = 4;              ///< bytes that the first two have more
constexpr double kMostOpening = 60;               ///< s

}  // namespace

void CellNetwork::set_clock(const SessionClock& clock) {
  clock_ = clock;
  for (const auto& air : airs_) air->set_clock(clock);
}

/// Something is under way again: where it had come to rest, no time has passed since.
void CellNetwork::wake_up(double session) {
  if (own(session) > rests_at_) set_clock({rests_at_ - session});
}

void CellNetwork::open(double now) {
  std::vector<CellPacket> first;
  for (const auto& each : connections_) {
    if (each->is_open || !each->stream) continue;
    each->is_open = true;
    first.push_back({.connection = each->number, .number = kFirst, .wire = header() + kOptions});
  }
  if (first.empty() || under_way_ > 0) return;
  wake_up(now);
  now_ = now_ == 0 ? kBegin - kInTime : std::max(now_, own(now));
  set_clock({.behind = now_ - now, .stands_at = now});
  opening_ = static_cast<std::int64_t>(first.size());
  for (const CellPacket& packet : first) send_first(now_, packet, 0);
  double until = now_ + kMostOpening;
  std::vector<Ended> none;
  for (;;) {
    const bool again = !retries_.empty() && retries_.top().time < next_own();
    const double next = again ? retries_.top().time : next_own();
    if (next > until) break;
    const bool opens = opening_ > 0;
    now_ = std::max(now_, next);
    if (again)
      retry(now_, retries_.pop());
    else
      run_next(now_, none);
    if (opens && opening_ == 0) until = now_ + kRest;
  }
  GRADWIRE_ASSERT(none.empty());
  retries_ = {};
  rests_at_ = now_ = until;
  set_clock({rests_at_ - now});
}

/// One of the first two packets of a handshake, sent again where nothing comes of it.
void CellNetwork::send_first(double now, const CellPacket& packet, int tries) {
  const double wait = transport_.initial_rto.value() * std::exp2(tries);
  retries_.push({now + wait, 0, packet, tries + 1});
  if (tries == 0 && !packet.acknowledges) connection(packet.connection).opens_since = now;
  CellPacket one = packet;
  one.sent = tries;
  enter(now, one);
}

void CellNetwork::retry(double now, const Retry& one) {
  const Connection& owner = connection(one.packet.connection);
  if (!(one.packet.acknowledges ? owner.is_accepted : owner.is_answered))
    send_first(now, one.packet, one.tries);
}

/// SYN, the answer, and what acknowledges that.
void CellNetwork::shake_hands(double now, const CellPacket& packet) {
  Connection& owner = connection(packet.connection);
  if (packet.number == kThird) {
    opening_ -= !owner.is_accepted;
    owner.is_accepted = true;
    return;
  }
  const CellPacket answer{.connection = packet.connection,
                          .acknowledges = !packet.acknowledges,
                          .number = packet.acknowledges ? kThird : kFirst,
                          .wire = header() + (packet.acknowledges ? 0 : kOptions)};
  if (packet.acknowledges) {
    if (!owner.is_answered) {
      owner.stream->note_handshake(owner.opens_since, now);
      owner.stream->set_phases(phases_);
    }
    owner.is_answered = true;
    enter(now, answer);
  } else if (owner.has_come) {
    enter(now, answer);  // it is sent again for the asking
  } else {
    // Its time stamp is what the answers echo, however often they are sent.
    owner.opens_since += transport_.initial_rto.value() * (std::exp2(packet.sent) - 1);
    owner.has_come = true;
    send_first(now, answer, 0);
  }
}

}  // namespace gradwire::sim
