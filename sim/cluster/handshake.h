#pragma once
#include "sim/cluster/path_cost.h"
#include "sim/transport/transport_settings.h"

/// How long TCP connections of `flow` and `packet` take to open, each by itself.
namespace gradwire::sim {

struct Handshake {
  double round_trip = 0;  ///< s: what the sender measures
  double whole = 0;       ///< s, until the receiver is open, too
};

/// Three packets without payload, of which the first two have four bytes more of options. Of each
/// link's time the gap behind a packet does not delay it. `gap_a_byte`: s a byte, over the links
/// whose devices know such a gap; `headers`: bytes of a packet.
Handshake handshake_of(const PathCost& path, double gap_a_byte, double headers);

/// s: that of a connection from the first host to the last one. Both executors' clocks, in whose
/// ticks time stamps are, stand where they would if it had set them going (of one flow, or of equal
/// ways, that is where its own handshake leaves them): round trips hang on that by a tick.
double clock_at_start(const Cluster& cluster, const TransportSettings& transport);

}  // namespace gradwire::sim
