#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "emulator/shaper/wire_network.h"
#include "sim/cluster/cluster.h"

/// What the link process is asked to make of a cluster: the channels of its links, whatever its
/// topology, and the way over them from each host to each other.
namespace gradwire::emulator {

/// Ways on which a frame is on its way for less are refused: the process that hands it over wakes
/// up to a tenth of a millisecond late, several times as late on a busy machine.
inline constexpr double kLeastDelay = 0.5e-3;  // s
/// As many as two bytes of an IPv4 address number.
inline constexpr int kMostWireHosts = 250;

struct WirePlan {
  struct Route {
    int source = 0;
    int destination = 0;
    std::vector<int> channels;
  };
  int hosts = 0;
  std::vector<WireNetwork::Channel> channels;
  std::vector<Route> routes;
  std::uint64_t seed = 1;

  /// [source * hosts + destination] of a route's number; -1: there is none.
  std::vector<std::int32_t> routes_by_pair() const;
  WireNetwork network() const;
  /// Bits/s, of what all hosts can send, or receive if that is less.
  double load() const;
};

/// One direction of a link. A queue without a size is CoDel's, as the packet executor sets it
/// (docs/packet.md).
WireNetwork::Channel wire_channel_of(const sim::Cluster& cluster, sim::ChannelId id,
                                     const sim::TransportSettings& transport);
/// Channels from host to host, in order.
std::vector<int> wire_route_of(const sim::Cluster& cluster, int source, int destination);

/// Why the link process cannot make this cluster's links; "": it can.
std::string wire_flaw(const sim::Cluster& cluster);
/// Precondition (assertion): it can.
WirePlan plan_wires(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                    std::uint64_t seed);

nlohmann::json to_json(const WirePlan& plan);
WirePlan wire_plan_from_json(const nlohmann::json& json);

}  // namespace gradwire::emulator
