#pragma once
#include <cstdint>

#include "base/philox.h"
#include "sim/cluster/link.h"

/// What happens to a channel's packets by chance: a stream of draws for each channel and purpose,
/// and for TCP's independent losses for each connection and direction besides. `packet` and `flow`
/// draw so: with one seed they lose the same packets, as long as they send the same.
///
/// Packet k of TCP that comes to the end of a channel without bursts, of a connection's data or of
/// its acknowledgements, is lost where word k of connection_losses() is below the loss. Each packet
/// is lost with the same probability, whatever happened to the others, as if the channel had one
/// stream; but in which order connections share the channel does not change what each loses.
/// Packet k of a channel with bursts, or of datagrams, is lost where word 2k of the channel's own
/// stream is.
namespace gradwire::sim {

inline constexpr std::uint32_t kLossDraws = kFirstReservedTensor + 0x20000000u;
inline constexpr std::uint32_t kJitterDraws = kFirstReservedTensor + 0x20000001u;

inline constexpr std::uint32_t kDataLossDraws = kFirstReservedTensor + 0x20000002u;
inline constexpr std::uint32_t kAckLossDraws = kFirstReservedTensor + 0x20000003u;

inline RandomStream channel_stream(std::uint64_t seed, ChannelId channel, std::uint32_t purpose) {
  return {
      .seed = seed, .step = 0, .worker = static_cast<std::uint32_t>(channel), .tensor = purpose};
}

/// Of the connection from host `source` to `destination` on the channel. Others of the same pair
/// are those of `source` plus so many times as many as there are hosts.
inline RandomStream connection_losses(std::uint64_t seed, ChannelId channel, std::uint32_t source,
                                      std::uint32_t destination, bool acknowledgements) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ull;
  return {.seed = seed ^ ((std::uint64_t{destination} + 1) * kOdd),
          .step = source,
          .worker = static_cast<std::uint32_t>(channel),
          .tensor = acknowledgements ? kAckLossDraws : kDataLossDraws};
}

}  // namespace gradwire::sim
