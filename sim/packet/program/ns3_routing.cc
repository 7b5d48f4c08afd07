// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/ns3_routing.h"

#include <ns3/ipv4.h>
#include <ns3/net-device.h>
#include <ns3/node.h>

namespace gradwire::sim {
namespace {

std::uint64_t key_of(ns3::Ipv4Address source, ns3::Ipv4Address destination) {
  return static_cast<std::uint64_t>(source.Get()) << 32 | destination.Get();
}

}  // namespace

void ChannelRouting::add(ns3::Ipv4Address source, ns3::Ipv4Address destination,
                         ns3::Ptr<ns3::NetDevice> device, ns3::Ipv4Address gateway) {
  const ns3::Ptr<ns3::Ipv4Route> route = ns3::Create<ns3::Ipv4Route>();
  route->SetDestination(destination);
  route->SetGateway(gateway);
  route->SetSource(local_);
  route->SetOutputDevice(device);
  routes_[key_of(source, destination)] = route;
}

ns3::Ptr<ns3::Ipv4Route> ChannelRouting::find(ns3::Ipv4Address source,
                                              ns3::Ipv4Address destination) const {
  const auto found = routes_.find(key_of(source, destination));
  return found == routes_.end() ? nullptr : found->second;
}

ns3::Ptr<ns3::Ipv4Route> ChannelRouting::RouteOutput(ns3::Ptr<ns3::Packet>,
                                                     const ns3::Ipv4Header& header,
                                                     ns3::Ptr<ns3::NetDevice>,
                                                     ns3::Socket::SocketErrno& error) {
  // A socket that is still to be bound asks with no source: it is this host.
  const ns3::Ptr<ns3::Ipv4Route> route = find(local_, header.GetDestination());
  error = route ? ns3::Socket::ERROR_NOTERROR : ns3::Socket::ERROR_NOROUTETOHOST;
  return route;
}

bool ChannelRouting::RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header,
                                ns3::Ptr<const ns3::NetDevice> device,
                                const UnicastForwardCallback& forward,
                                const MulticastForwardCallback&,
                                const LocalDeliverCallback& deliver, const ErrorCallback& failed) {
  if (header.GetDestination() == local_) {
    deliver(packet, header, static_cast<uint32_t>(ipv4_->GetInterfaceForDevice(device)));
    return true;
  }
  const ns3::Ptr<ns3::Ipv4Route> route = find(header.GetSource(), header.GetDestination());
  if (route) {
    forward(route, packet, header);
  } else {
    failed(packet, header, ns3::Socket::ERROR_NOROUTETOHOST);
  }
  return true;
}

ns3::Ptr<ns3::Ipv4RoutingProtocol> ChannelRoutingHelper::Create(ns3::Ptr<ns3::Node> node) const {
  const ns3::Ptr<ChannelRouting> routing = ns3::CreateObject<ChannelRouting>();
  node->AggregateObject(routing);
  return routing;
}

}  // namespace gradwire::sim
