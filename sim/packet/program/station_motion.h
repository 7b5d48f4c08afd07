// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/constant-velocity-mobility-model.h>
#include <ns3/node.h>

#include <vector>

#include "sim/cluster/cell.h"

namespace gradwire::sim {

/// Stations walk on the session's clock: they stand still while it does, and leap when it does.
class StationMotion {
 public:
  explicit StationMotion(const Cell& cell);
  void place_base(ns3::Ptr<ns3::Node> base) const;
  void place(std::size_t station, ns3::Ptr<ns3::Node> node);
  void walk(bool moving);
  void leap(Seconds time);

 private:
  ns3::Vector ray(std::size_t station, double length) const;

  std::vector<Station> stations_;
  bool moving_ = false;
  std::vector<ns3::Ptr<ns3::ConstantVelocityMobilityModel>> models_;
};

}  // namespace gradwire::sim
