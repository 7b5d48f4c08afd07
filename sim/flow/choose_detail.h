#pragma once
#include <optional>

#include "sim/cluster/cluster.h"
#include "sim/session/detail.h"
#include "sim/transport/transport_settings.h"

namespace gradwire::sim {

/// What the choice of a detail goes by. Numbers of hosts, steps and seeds are no part of it: along
/// such an axis all runs are simulated in the same way.
struct DetailQuestion {
  TransportSettings::Protocol protocol{};
  bool has_air = false;         ///< radio cells
  std::optional<Detail> asked;  ///< per packet or fluid; empty: the engine's choice
};

DetailQuestion detail_question(const Cluster& cluster, const TransportSettings& transport,
                               std::optional<Detail> asked);

/// How `flow` simulates it. Asked for nothing: `ideal` and `rdma` are fluids alone, `udp-lossy` and
/// what crosses radio cells go packet by packet, and TCP over wires is mixed. Throws
/// Error(kCapability) where what is asked for cannot be: a fluid has no frames of a radio cell and
/// none of udp-lossy's losses, and `ideal` and `rdma` have no packets.
Detail choose_detail(const DetailQuestion& question);

}  // namespace gradwire::sim
