#pragma once
#include <cstdint>

#include "base/philox.h"
#include "sim/link.h"

/// What the packet simulator's own models draw from: a stream for each channel and purpose.
namespace gradwire::sim {

inline constexpr std::uint32_t kLossDraws = kFirstReservedTensor + 0x20000000u;
inline constexpr std::uint32_t kJitterDraws = kFirstReservedTensor + 0x20000001u;

inline RandomStream channel_stream(std::uint64_t seed, ChannelId channel, std::uint32_t purpose) {
  return {
      .seed = seed, .step = 0, .worker = static_cast<std::uint32_t>(channel), .tensor = purpose};
}

}  // namespace gradwire::sim
