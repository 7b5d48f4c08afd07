#pragma once
#include <cstdint>

#include "sim/flow/queues/bottleneck.h"
#include "sim/flow/tcp/receiver.h"
#include "sim/flow/tcp_path.h"

namespace gradwire::sim {

/// What the streams of one path share.
struct StreamPath : TcpPath {
  /// `clock`: s, at the time 0; negative: where the path's own handshake leaves it.
  StreamPath(const TcpPath& path, const TransportSettings& transport, double clock = -1);

  /// A time stamp (RFC 7323) of that time, in ticks modulo 2^32 (50 days); 0 by the kernel's rules,
  /// which measure without them.
  std::int32_t stamp(double time) const;
  /// s from one time stamp to another; below a tick: 1 us.
  double between(std::int32_t sent, std::int32_t now) const;

  /// s, that a sender takes for the path's until it has measured one: the handshake's.
  double first_round_trip() const {
    return has_stamps ? between(0, static_cast<std::int32_t>(handshake * ticks_per_second))
                      : 2 * propagation;
  }

  Bottleneck::Discipline discipline;
  TcpReceiver::Quickness quickness;
  double header;            ///< bytes
  std::int64_t segment;     ///< bytes of payload
  double arrival;           ///< s, until a segment has arrived
  double ack_arrival;       ///< s
  double handshake = 0;     ///< s: a round trip of it
  double clock_ahead = 0;   ///< s: of time stamps
  double following = 0;     ///< s, of what follows a packet on its links and it does not wait for
  double felt_below = 0;    ///< wire bytes: of a shorter message that is a hundredth of its time
  bool has_stamps = false;  ///< on segments

 private:
  void shake_hands(bool paced);
};

}  // namespace gradwire::sim
