// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/station_motion.h"

#include <ns3/constant-position-mobility-model.h>

#include <cmath>
#include <numbers>

namespace gradwire::sim {

StationMotion::StationMotion(const Cell& cell)
    : stations_(cell.stations), models_(cell.stations.size()) {}

ns3::Vector StationMotion::ray(std::size_t station, double length) const {
  const double turn = static_cast<double>(station) / static_cast<double>(stations_.size());
  const double angle = 2 * std::numbers::pi * turn;
  return {length * std::cos(angle), length * std::sin(angle), 0};
}

void StationMotion::place_base(ns3::Ptr<ns3::Node> base) const {
  base->AggregateObject(ns3::CreateObject<ns3::ConstantPositionMobilityModel>());
}

void StationMotion::place(std::size_t station, ns3::Ptr<ns3::Node> node) {
  models_[station] = ns3::CreateObject<ns3::ConstantVelocityMobilityModel>();
  models_[station]->SetPosition(ray(station, stations_[station].distance));
  node->AggregateObject(models_[station]);
}

void StationMotion::walk(bool moving) {
  moving_ = moving;
  for (std::size_t i = 0; i < models_.size(); ++i)
    models_[i]->SetVelocity(ray(i, moving ? stations_[i].speed : 0));
}

void StationMotion::leap(Seconds time) {
  for (std::size_t i = 0; i < models_.size(); ++i) {
    const ns3::Vector step = ray(i, stations_[i].speed * time.value());
    const ns3::Vector position = models_[i]->GetPosition();
    models_[i]->SetPosition(position + step);  // which stops it
  }
  walk(moving_);
}

}  // namespace gradwire::sim
