#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/per_packet/packet_events.h"
#include "sim/flow/per_packet/packet_link.h"

namespace gradwire::sim {

/// A packet on one direction of a station's link.
struct AirPacket : PacketLink::Packet {
  ChannelId channel = -1;
  std::int32_t flow = 0;
  double came = 0;  ///< s, to the queue that it waits in
};

/// The outage of the station's link that it is in; null: none.
inline const Outage* outage_at(const Link& link, double now) {
  for (const Outage& outage : link.spec.outages)
    if (now >= outage.begin.value() && now < outage.end.value()) return &outage;
  return nullptr;
}

/// What stations and their base share: queues, and who sends when. An event is at most a packet.
/// Times are the air's own.
class Air {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kSameTime = 1e-10;  ///< s: apart by less, two instants are one

  virtual ~Air() = default;
  /// How the session's clock, on which stations move and are away, goes from now on.
  virtual void set_clock(const SessionClock& clock) {
    clock_ = clock;
    look_again();
  }
  /// A packet comes to a station's queue (up), or to the base's for that station. False: it is
  /// full, and the packet dropped.
  virtual bool push(double now, std::size_t station, bool up, AirPacket packet) = 0;
  /// s; infinite: nothing waits.
  double next_event() const {
    if (!known_) {
      next_ = find_next_event();
      known_ = true;
    }
    return next_;
  }
  /// The event of next_event(). Appends what comes to its end of the air by it.
  virtual void run(std::vector<AirPacket>& through) = 0;
  /// s, until now, in which the air carried something that way.
  virtual double busy(bool up) const = 0;

 protected:
  virtual double find_next_event() const = 0;
  /// Something has happened that may change it.
  void look_again() { known_ = false; }
  /// At its own time.
  double session(double now) const { return clock_.at(now); }
  const Outage* outage(const Link& link, double now) const {
    return clock_.stands() ? nullptr : outage_at(link, session(now));
  }
  /// Its own time at which it is over.
  double end_of(const Outage& outage) const { return outage.end.value() + clock_.behind; }

 private:
  SessionClock clock_;
  mutable double next_ = 0;
  mutable bool known_ = false;
};

}  // namespace gradwire::sim
