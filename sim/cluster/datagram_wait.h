#pragma once
#include <span>

#include "sim/cluster/cluster.h"

/// When a receiver of udp-lossy ends a message, on `flow` and `packet` alike. A connection's
/// datagrams do not overtake one another, so that nothing more comes of a message
///     once its last segment is there, or any segment of a later message on the connection.
/// Where neither comes it waits until the last segment is late by more than the deadline.
namespace gradwire::sim {

/// As late as jitter makes a datagram, in jitters of its way.
inline constexpr double kLateJitters = 4;

/// A receiver's deadline, s: TransportSettings::deadline or, where none is set, as long as the
/// queues of the way can hold a packet (0.1 s for a queue without a size: CoDel keeps it short).
Seconds datagram_wait(const Cluster& cluster, std::span<const ChannelId> route,
                      const TransportSettings& transport);

}  // namespace gradwire::sim
