#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/session/event_heap.h"

/// Events of packets in whole nanoseconds, those of one instant in the order in which they were
/// scheduled, as ns-3 has them.
namespace gradwire::sim {

inline constexpr double kNanoseconds = 1e9;  ///< in a second

inline std::int64_t whole_nanoseconds(double seconds) {
  return std::llround(seconds * kNanoseconds);
}

/// The session's clock beside that of the packets, which goes on while connections open and stands
/// while nothing is under way. In s.
struct SessionClock {
  static constexpr double kGoes = -1;
  double behind = 0;         ///< the packets'
  double stands_at = kGoes;  ///< while connections open
  bool stands() const { return stands_at != kGoes; }
  /// At `own` of the packets'.
  double at(double own) const { return stands() ? stands_at : own - behind; }
};

struct PacketEvent {
  enum class Kind : std::uint8_t {
    kArrives,  ///< the first packet under way on the channel `of`, at its end
    kThrough,  ///< ... the one on its wire is through
    kWakes,    ///< ... the place behind its wire is free
    kSends,    ///< the host `of` sends a datagram
    kWrites,   ///< the connection `of` sends what was written to it
    kEnds,     ///< a message of the connection `of` may be late
    kRuns,     ///< a timer of the connection `of`
    kAir,      ///< something happens in the air of the cell `of`
    kOpens     ///< a packet of the handshake `of` may be lost: handshakes.cc
  };
  std::int64_t time = 0;  ///< ns
  std::uint64_t order = 0;
  std::int32_t of = 0;
  Kind kind = Kind::kArrives;
};

class PacketEvents {
 public:
  /// When something happens, among all else.
  struct Key {
    std::int64_t time = -1;  ///< ns
    std::uint64_t order = 0;
  };

  std::int64_t now() const { return now_.time; }
  double seconds() const { return static_cast<double>(now_.time) / kNanoseconds; }
  /// On the session's clock, ns.
  std::int64_t session_now() const { return whole_nanoseconds(clock_.at(seconds())); }
  const SessionClock& clock() const { return clock_; }
  void set_clock(const SessionClock& clock) { clock_ = clock; }
  bool empty() const { return heap_.empty(); }
  std::int64_t next_time() const { return heap_.top().time; }
  PacketEvent pop() {
    const PacketEvent event = heap_.pop();
    now_ = {event.time, event.order};
    return event;
  }
  /// All events until then are over.
  void move_to(std::int64_t time) { now_ = {std::max(now_.time, time), heap_.reserve()}; }

  /// Gives the order of the event.
  std::uint64_t push(const PacketEvent& event) {
    const std::uint64_t order = heap_.reserve();
    push(event, {event.time, order});
    return order;
  }
  /// What may become an event, as if it were one from now on.
  Key reserve(std::int64_t time) { return {time, heap_.reserve()}; }
  void push(PacketEvent event, const Key& key) {
    event.time = key.time;
    event.order = key.order;
    heap_.push_reserved(event);
  }
  /// Whether it would have happened before what happens now.
  bool has_passed(const Key& key) const {
    return key.time < now_.time || (key.time == now_.time && key.order < now_.order);
  }

 private:
  EventHeap<PacketEvent> heap_;
  Key now_{0, 0};
  SessionClock clock_;
};

}  // namespace gradwire::sim
