// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/ipv4-route.h>
#include <ns3/ipv4-routing-helper.h>
#include <ns3/ipv4-routing-protocol.h>

#include <cstdint>
#include <unordered_map>

namespace gradwire::sim {

/// Forwards along the cluster's own routes, which depend on both ends (equal ways are shared out by
/// flow): one table look-up a packet, filled in as pairs of hosts begin to talk. (ns-3's static
/// routing walks a list for each packet, and its global routing finds paths of its own, which need
/// not be the cluster's.)
class ChannelRouting final : public ns3::Ipv4RoutingProtocol {
 public:
  /// The address under which the node's own stack receives (hosts only).
  void set_local(ns3::Ipv4Address address) { local_ = address; }
  /// Packets from `source` to `destination` leave by `device`; `gateway`: the neighbour they go to,
  /// zero where there is but one, or it is the destination.
  void add(ns3::Ipv4Address source, ns3::Ipv4Address destination, ns3::Ptr<ns3::NetDevice> device,
           ns3::Ipv4Address gateway);

  ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet, const ns3::Ipv4Header& header,
                                       ns3::Ptr<ns3::NetDevice> device,
                                       ns3::Socket::SocketErrno& error) override;
  bool RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header,
                  ns3::Ptr<const ns3::NetDevice> device, const UnicastForwardCallback& forward,
                  const MulticastForwardCallback& multicast, const LocalDeliverCallback& deliver,
                  const ErrorCallback& failed) override;
  void NotifyInterfaceUp(uint32_t) override {}
  void NotifyInterfaceDown(uint32_t) override {}
  void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override { ipv4_ = ipv4; }
  void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

 private:
  ns3::Ptr<ns3::Ipv4Route> find(ns3::Ipv4Address source, ns3::Ipv4Address destination) const;

  ns3::Ptr<ns3::Ipv4> ipv4_;
  ns3::Ipv4Address local_;
  std::unordered_map<std::uint64_t, ns3::Ptr<ns3::Ipv4Route>> routes_;
};

class ChannelRoutingHelper final : public ns3::Ipv4RoutingHelper {
 public:
  ChannelRoutingHelper* Copy() const override { return new ChannelRoutingHelper(*this); }
  ns3::Ptr<ns3::Ipv4RoutingProtocol> Create(ns3::Ptr<ns3::Node> node) const override;
};

}  // namespace gradwire::sim
