#pragma once
#include <optional>
#include <string>
#include <vector>

#include "emulator/shaper/link_plan.h"
#include "emulator/shaper/wire_plan.h"

namespace gradwire::emulator {

/// The ways in which a cluster's links can be made here; the hub takes the kernel's where both are
/// there and the kernel has netem (hub/hub.cc).
struct LinkChoice {
  int hosts = 0;
  std::vector<HostLink> star;     ///< by the kernel; empty: it cannot
  std::optional<WirePlan> wires;  ///< by the link process
};

/// `shaper`: as in EmulatorOptions. Throws Error(kCapability) where none of them is left, with what
/// each of them lacks.
LinkChoice choose_links(const sim::Cluster& cluster, const std::string& shaper,
                        const sim::TransportSettings& transport, std::uint64_t seed);

/// Throws Error(kCapability) where a process that takes so many frames a second cannot hold what
/// the links carry together, with what it can.
void require_hold(const WirePlan& plan, double frame_rate);

}  // namespace gradwire::emulator
