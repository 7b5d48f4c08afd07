#pragma once
#include <cstddef>

namespace gradwire::emulator {

/// The host (link_plan.h: host_address) that an IPv4 frame is for; -1: none, or no such frame.
inline int destination_host(const std::byte* frame, std::size_t bytes) {
  constexpr std::size_t kAddress = 14 + 16;  // behind the Ethernet header
  if (bytes < kAddress + 4) return -1;
  const auto at = [frame](std::size_t i) { return std::to_integer<int>(frame[kAddress + i]); };
  if (at(0) != 10 || at(1) != 77) return -1;
  return at(2) * 250 + at(3) - 1;
}

}  // namespace gradwire::emulator
