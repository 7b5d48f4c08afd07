#pragma once
#include <optional>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/collective.h"
#include "sim/transport/transport_settings.h"

/// What a library of collectives adds to one: NCCL's start, latency and share of the links.
///
/// A ring of n ranks whose plan (sim/transport/nccl.h) has the latency L and moves b bytes in m
/// seconds is run hop by hop: of H hops each takes L / H, of which the way's own propagation is a
/// part, and gets the rate at which H messages of b / n take m. That rate is a share of the path's:
/// a hop occupies its links for as long as the library does, so that collectives at the same time
/// share what one alone would have. A tree, whose chunks follow one another, loads the links of its
/// ranks as a ring does, and is run as one, with its own latency and bytes.
///
/// Limits. Hops inside a node are as slow as those between nodes, and occupy their links as long;
/// ns of headers where messages are below a packet.
namespace gradwire::sim {

struct CollectivePace {
  double start = 0;      ///< s from a rank's readiness to its first message
  double hop = 0;        ///< s added to each hop
  double wire_rate = 0;  ///< wire bytes/s of each hop
  double sent = 1;       ///< bytes on the wire for one of payload
  std::vector<double>
      stretch;  ///< [ranks] of the hop that leaves a rank: rate of its way / its own

  /// Payload that occupies the way of a hop from `rank` as long as `payload` does at its own rate.
  Bytes occupied(int rank, Bytes payload) const;
  /// What a hop of that payload really sends, headers and flags in it.
  Bytes wire_of(Bytes payload, const TransportSettings& transport) const;
};

/// None where the transport has no library, for what is no ring, or for fewer than two ranks.
/// `bytes`: as CollectiveSpec::byte_slots() says.
std::optional<CollectivePace> pace_of(const Cluster& cluster, const TransportSettings& transport,
                                      const CollectiveSpec& spec, std::span<const Bytes> bytes);

}  // namespace gradwire::sim
