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

/// Throws Error(kCapability) where the hosts of a star that the kernel makes send more together
/// than `processors` of them carry by far: kMostOfProcessor each.
void require_hold(const std::vector<HostLink>& star, int processors);

/// Twice what docs/emulator.md advises: eight hosts at 1 Gbps on two processors were 15 to 45 %
/// slow.
inline constexpr BitsPerSecond kMostOfProcessor{4e9};

/// Throws Error(kCapability) where nobody asked for a kernel without netem, and links have delays
/// that the link process would make if there were fewer hosts.
void require_delays(const std::vector<HostLink>& star, const std::string& shaper);

}  // namespace gradwire::emulator
