// The clock of a cell network: how its connections open, and when it stands.
#include <algorithm>

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
  for (const CellPacket& packet : first) {
    connection(packet.connection).opens_since = now_;
    enter(now_, packet);
  }
  double until = now_ + kMostOpening;
  std::vector<Ended> none;
  for (double next = next_own(); next <= until; next = next_own()) {
    const bool opens = opening_ > 0;
    now_ = std::max(now_, next);
    run_next(now_, none);
    if (opens && opening_ == 0) until = now_ + kRest;
  }
  GRADWIRE_ASSERT(none.empty());
  rests_at_ = now_ = until;
  set_clock({rests_at_ - now});
}

/// SYN, the answer, and what acknowledges that.
void CellNetwork::shake_hands(double now, const CellPacket& packet) {
  if (packet.number == kThird) {
    --opening_;
    return;
  }
  if (packet.acknowledges) {
    Connection& owner = connection(packet.connection);
    owner.stream->note_handshake(owner.opens_since, now);
    owner.stream->set_phases(phases());
  }
  enter(now, {.connection = packet.connection,
              .acknowledges = !packet.acknowledges,
              .number = packet.acknowledges ? kThird : kFirst,
              .wire = header() + (packet.acknowledges ? 0 : kOptions)});
}

}  // namespace gradwire::sim
