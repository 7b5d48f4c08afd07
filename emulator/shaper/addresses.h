#pragma once
#include <cstddef>
#include <cstdint>

namespace gradwire::emulator {

/// The host (link_plan.h: host_address) that an IPv4 frame is for; -1: none, or no such frame.
inline int destination_host(const std::byte* frame, std::size_t bytes) {
  constexpr std::size_t kAddress = 14 + 16;  // behind the Ethernet header
  if (bytes < kAddress + 4) return -1;
  const auto at = [frame](std::size_t i) { return std::to_integer<int>(frame[kAddress + i]); };
  if (at(0) != 10 || at(1) != 77) return -1;
  return at(2) * 250 + at(3) - 1;
}

/// The ports of an IPv4 frame of TCP or UDP, the source's above: with its hosts they say which
/// connection it is of, and which way. 0: it has none.
inline std::uint32_t ports_of(const std::byte* frame, std::size_t bytes) {
  constexpr std::size_t kPacket = 14, kProtocol = kPacket + 9;
  constexpr int kTcp = 6, kUdp = 17;
  if (bytes <= kProtocol) return 0;
  const auto at = [frame](std::size_t i) { return std::to_integer<std::uint32_t>(frame[i]); };
  const std::size_t ports = kPacket + 4 * (at(kPacket) & 15);
  if ((at(kProtocol) != kTcp && at(kProtocol) != kUdp) || bytes < ports + 4) return 0;
  return at(ports) << 24 | at(ports + 1) << 16 | at(ports + 2) << 8 | at(ports + 3);
}

}  // namespace gradwire::emulator
