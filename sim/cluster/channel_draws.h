#pragma once
#include <cstdint>

#include "base/philox.h"
#include "sim/cluster/link.h"

/// What happens to a channel's packets by chance: a stream of draws for each channel and purpose.
/// Packet k of a channel is lost where word 2k is below the loss. `packet` draws so, and `flow`
/// where both are to lose the same packets (ExecutorOptions::losses_by_channel).
namespace gradwire::sim {

inline constexpr std::uint32_t kLossDraws = kFirstReservedTensor + 0x20000000u;
inline constexpr std::uint32_t kJitterDraws = kFirstReservedTensor + 0x20000001u;

inline RandomStream channel_stream(std::uint64_t seed, ChannelId channel, std::uint32_t purpose) {
  return {
      .seed = seed, .step = 0, .worker = static_cast<std::uint32_t>(channel), .tensor = purpose};
}

}  // namespace gradwire::sim
