// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/radio_cell.h"

#include <ns3/ipv4.h>

namespace gradwire::sim {

std::uint32_t add_interface(ns3::Ptr<ns3::NetDevice> device, ns3::Ipv4Address address) {
  const ns3::Ptr<ns3::Ipv4> ipv4 = device->GetNode()->GetObject<ns3::Ipv4>();
  const std::uint32_t interface = ipv4->AddInterface(device);
  ipv4->AddAddress(interface, ns3::Ipv4InterfaceAddress(address, ns3::Ipv4Mask("255.0.0.0")));
  ipv4->SetMetric(interface, 1);
  ipv4->SetUp(interface);
  return interface;
}

}  // namespace gradwire::sim
