// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/ipv4.h>
#include <ns3/packet.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/packet/program/radio_cell.h"

namespace gradwire::sim {

/// The radio cells of a cluster, and which channels they are.
class Ns3Cells {
 public:
  struct Surroundings {
    std::function<ns3::Ptr<ns3::Node>(NodeId)> node;
    std::function<ns3::Ipv4Address(NodeId)> address;
    std::function<void(ChannelId, Bytes)> sent;  ///< an IP packet entered that channel
  };
  Ns3Cells(const Cluster& cluster, Surroundings surroundings);
  Ns3Cells(const Ns3Cells&) = delete;
  Ns3Cells& operator=(const Ns3Cells&) = delete;

  bool empty() const { return cells_.empty(); }
  /// The device by which packets of a cell's channel leave.
  ns3::Ptr<ns3::NetDevice> sender(ChannelId channel) const { return sender_.at(channel); }
  ns3::Ipv4Address gateway(ChannelId channel) const { return gateway_.at(channel); }
  /// A station that is in range at the start and cannot talk yet; "" = none.
  std::string unconnected() const;
  /// Those that can talk do.
  void greet() const;
  /// Lets the stations walk, or stand still.
  void walk(bool moving);
  /// Moves the stations as if they had walked for that long.
  void leap(Seconds time);

 private:
  CellNodes nodes_of(const Cell& cell) const;
  void add(const Cell& cell, const std::vector<int>& links);
  void watch(ns3::Ptr<ns3::NetDevice> device);
  void on_packet(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4> ipv4,
                 std::uint32_t interface);

  /// A node's interface.
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  static Place place_of(ns3::Ptr<ns3::NetDevice> device);

  const Cluster& cluster_;
  Surroundings surroundings_;
  std::vector<std::unique_ptr<RadioCell>> cells_;
  std::map<ChannelId, ns3::Ptr<ns3::NetDevice>> sender_;
  std::map<ChannelId, ns3::Ipv4Address> gateway_;
  std::map<Place, ChannelId> upward_;                             ///< of stations
  std::map<Place, std::map<std::uint32_t, ChannelId>> downward_;  ///< of bases, by destination
};

}  // namespace gradwire::sim
