#pragma once
#include <string>
#include <vector>

#include "base/units.h"

/// The kernel's part of links that the link process makes: a veth pair from each host's namespace
/// to the hub's, unshaped, and hosts that send each segment in a frame of its own.
namespace gradwire::emulator {

/// A pair in the hub's namespace that shows how many frames the link process can take.
inline constexpr const char* kProbeDevice = "gwp0";
inline constexpr const char* kProbePeer = "gwp1";

/// Input of `ip -batch -` in the hub's namespace. `pids`: of the hosts.
std::string wire_hub_script(const std::vector<int>& pids);
/// In a host's.
std::string wire_host_script(int host, int hosts);

/// Of the calling process's namespace: buffers that limit nothing but a window of `buffer` (half of
/// a receive buffer is window), no knowledge from one connection to the next, no IPv6 (where there
/// is any). Throws Error(kCapability).
void set_tcp_parameters(Bytes buffer);
/// The kernel cuts what TCP sends at once into frames: each is lost, and delayed, alone.
/// Throws Error(kCapability).
void cut_segments(const char* device);

}  // namespace gradwire::emulator
