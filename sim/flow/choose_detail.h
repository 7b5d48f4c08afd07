#pragma once
#include <optional>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/host_pairs.h"
#include "sim/graph/step_graph.h"
#include "sim/session/detail.h"
#include "sim/transport/transport_settings.h"

namespace gradwire::sim {

/// What the choice of a detail goes by. Numbers of hosts, steps and seeds are no part of it.
struct DetailQuestion {
  TransportSettings::Protocol protocol{};
  bool has_air = false;         ///< radio cells
  bool needs_packets = false;   ///< TCP on links with an explicit queue, or with jitter
  bool has_no_rates = false;    ///< links on which rates say too little: detail_question()
  std::optional<Detail> asked;  ///< per packet or fluid; empty: the engine's choice
};

/// Rates say too little about TCP on links with an explicit queue, with jitter, on which both
/// directions share one medium, or on which the first window takes longer than the least timeout.
DetailQuestion detail_question(const Cluster& cluster, const TransportSettings& transport,
                               std::optional<Detail> asked);

/// How `flow` simulates it. Asked for nothing: `ideal` and `rdma` are fluids alone; `udp-lossy`,
/// what crosses radio cells, and TCP on links on which rates say too little go packet by packet; of
/// other TCP over wires the first exchange decides, which is empty here. Throws
/// Error(kCapability) where what is asked for cannot be: a fluid has no frames of a radio cell,
/// none of udp-lossy's losses, no queue that fills and no jitter, and `ideal` and `rdma` have no
/// packets.
std::optional<Detail> choose_detail(const DetailQuestion& question);

/// What is submitted before anything is sent: a step's exchange, or those of all workers that go
/// their own ways.
struct FirstExchange {
  std::vector<HostPair> pairs;  ///< that send, ascending, each once, unless they are too many
  double bytes = 0;             ///< of payload
  double transfers = 0;

  void add(const GraphTemplate& graph, std::span<const Bytes> bytes);
};

/// Whether it takes few enough packets over links for all to go packet by packet: 3 million where
/// packets may be lost, where links change, and where a fluid would follow segments, too (BBR, far
/// hosts, queues that drop: fluid/windows.h); 300,000 where messages may meet in several places or
/// on ways of different lengths, and where several meet on a link for longer than CoDel lets them
/// wait; else 30,000. Hosts that carry nothing change nothing.
bool goes_per_packet(const Cluster& cluster, const TransportSettings& transport,
                     const FirstExchange& first);

/// How `flow` simulates a network on which this is sent first.
Detail choose_detail(const Cluster& cluster, const TransportSettings& transport,
                     std::optional<Detail> asked, const FirstExchange& first);

}  // namespace gradwire::sim
