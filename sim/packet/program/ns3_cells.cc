// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/ns3_cells.h"

#include <ns3/ipv4-header.h>
#include <ns3/ipv4-l3-protocol.h>

#include <utility>

namespace gradwire::sim {

Ns3Cells::Ns3Cells(const Cluster& cluster, Surroundings surroundings)
    : cluster_(cluster), surroundings_(std::move(surroundings)) {
  for (std::size_t number = 0; number < cluster.cells().size(); ++number) {
    std::vector<int> links;
    for (std::size_t link = 0; link < cluster.links().size(); ++link)
      if (cluster.links()[link].cell == static_cast<std::int32_t>(number))
        links.push_back(static_cast<int>(link));
    add(cluster.cells()[number], links);
  }
}

CellNodes Ns3Cells::nodes_of(const Cell& cell) const {
  CellNodes nodes;
  nodes.cell = cell;
  nodes.base = surroundings_.node(cell.base);
  nodes.base_address = surroundings_.address(cell.base);
  for (const Station& station : cell.stations) {
    nodes.stations.push_back(surroundings_.node(station.node));
    nodes.addresses.push_back(surroundings_.address(station.node));
    nodes.names.push_back(cluster_.node_names()[static_cast<std::size_t>(station.node)]);
  }
  return nodes;
}

/// `links`: of its stations, in order.
void Ns3Cells::add(const Cell& cell, const std::vector<int>& links) {
  GRADWIRE_ASSERT(links.size() == cell.stations.size());
  cells_.push_back(cell.kind == Cell::Kind::kWifi ? make_wifi_cell(nodes_of(cell))
                                                  : make_lte_cell(nodes_of(cell)));
  RadioCell& made = *cells_.back();
  const Place base = place_of(made.base_device());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const ChannelId up = 2 * links[i], down = up + 1;
    sender_[up] = made.station_device(i);
    sender_[down] = made.base_device();
    gateway_[up] = made.gateway();
    gateway_[down] = ns3::Ipv4Address::GetZero();
    upward_[place_of(sender_[up])] = up;
    downward_[base][made.nodes().addresses[i].Get()] = down;
    watch(sender_[up]);
  }
  watch(made.base_device());
}

Ns3Cells::Place Ns3Cells::place_of(ns3::Ptr<ns3::NetDevice> device) {
  const ns3::Ptr<ns3::Node> node = device->GetNode();
  return {node->GetId(),
          static_cast<std::uint32_t>(node->GetObject<ns3::Ipv4>()->GetInterfaceForDevice(device))};
}

void Ns3Cells::watch(ns3::Ptr<ns3::NetDevice> device) {
  device->GetNode()->GetObject<ns3::Ipv4L3Protocol>()->TraceConnectWithoutContext(
      "Tx", ns3::MakeCallback(&Ns3Cells::on_packet, this));
}

void Ns3Cells::on_packet(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4> ipv4,
                         std::uint32_t interface) {
  const Place place{ipv4->GetObject<ns3::Node>()->GetId(), interface};
  const Bytes size(packet->GetSize());
  if (const auto up = upward_.find(place); up != upward_.end())
    return surroundings_.sent(up->second, size);
  const auto base = downward_.find(place);
  if (base == downward_.end()) return;
  ns3::Ipv4Header header;
  packet->PeekHeader(header);
  const auto down = base->second.find(header.GetDestination().Get());
  if (down != base->second.end()) surroundings_.sent(down->second, size);
}

std::string Ns3Cells::unconnected() const {
  for (const auto& made : cells_) {
    const CellNodes& nodes = made->nodes();
    for (std::size_t i = 0; i < nodes.stations.size(); ++i) {
      const double distance = nodes.cell.stations[i].distance;
      const bool in_range =
          air_rate(nodes.cell, distance, true) > 0 && air_rate(nodes.cell, distance, false) > 0;
      if (in_range && !made->connected(i)) return nodes.names[i];
    }
  }
  return {};
}

void Ns3Cells::greet() const {
  for (const auto& made : cells_)
    for (std::size_t i = 0; i < made->nodes().stations.size(); ++i)
      if (made->connected(i)) made->greet(i);
}

void Ns3Cells::walk(bool moving) {
  for (const auto& made : cells_) made->motion().walk(moving);
}

void Ns3Cells::leap(Seconds time) {
  for (const auto& made : cells_) made->motion().leap(time);
}

}  // namespace gradwire::sim
