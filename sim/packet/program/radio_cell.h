// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/net-device.h>
#include <ns3/node.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster/cell.h"
#include "sim/packet/program/station_motion.h"
#include "sim/session/executor.h"

/// Radio cells (sim/cluster/cell.h) as ns-3 has them.
namespace gradwire::sim {

/// What a cell is made of: its own nodes and those of the cluster. The base stands at the origin,
/// the stations around it at equal angles; each moves along its ray.
struct CellNodes {
  Cell cell;
  ns3::Ptr<ns3::Node> base;
  ns3::Ipv4Address base_address;
  std::vector<ns3::Ptr<ns3::Node>> stations;  ///< as in cell.stations
  std::vector<ns3::Ipv4Address> addresses;
  std::vector<std::string> names;
};

class RadioCell {
 public:
  explicit RadioCell(CellNodes nodes) : nodes_(std::move(nodes)), motion_(nodes_.cell) {}
  RadioCell(const RadioCell&) = delete;
  RadioCell& operator=(const RadioCell&) = delete;
  virtual ~RadioCell() = default;

  /// The devices by which a station's packets leave, and its base's to all stations.
  virtual ns3::Ptr<ns3::NetDevice> station_device(std::size_t station) const = 0;
  virtual ns3::Ptr<ns3::NetDevice> base_device() const = 0;
  /// Next hop of a station's packets; zero where the device needs none.
  virtual ns3::Ipv4Address gateway() const { return ns3::Ipv4Address::GetZero(); }
  /// Whether the station can send and receive: it is associated, or connected.
  virtual bool connected(std::size_t station) const = 0;
  /// The station, which is connected, and its base talk for the first time.
  virtual void greet(std::size_t) {}

  const CellNodes& nodes() const { return nodes_; }
  StationMotion& motion() { return motion_; }

 protected:
  CellNodes nodes_;
  StationMotion motion_;
};

/// 802.11ax in infrastructure mode (sim/packet/program/wifi_cell.cc).
std::unique_ptr<RadioCell> make_wifi_cell(CellNodes nodes);
/// LTE with EPC (sim/packet/program/lte_cell.cc).
std::unique_ptr<RadioCell> make_lte_cell(CellNodes nodes);

/// Gives the device an interface of its node's stack with that address; returns its number.
std::uint32_t add_interface(ns3::Ptr<ns3::NetDevice> device, ns3::Ipv4Address address);

}  // namespace gradwire::sim
