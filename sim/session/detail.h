#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gradwire::sim {

/// How finely the executor `flow` follows what a network carries.
enum class Detail : std::uint8_t {
  kMixed,      ///< a way for each connection: rates, windows segment by segment, or packets
  kPerPacket,  ///< every packet through the queues of all links of its way
  kFluid,      ///< rates from event to event; what windows and losses decide segment by segment
};
inline constexpr std::array<std::string_view, 3> kDetailNames = {"mixed", "per-packet", "fluid"};

constexpr std::string_view name_of(Detail detail) {
  return kDetailNames[static_cast<std::size_t>(detail)];
}

/// Of those that can be asked for; empty: no such name.
constexpr std::optional<Detail> detail_named(std::string_view name) {
  for (const Detail each : {Detail::kPerPacket, Detail::kFluid})
    if (name == name_of(each)) return each;
  return std::nullopt;
}

}  // namespace gradwire::sim
