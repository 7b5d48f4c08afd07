#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gradwire::sim {

/// How finely the executor `flow` follows what a network carries.
enum class Detail : std::uint8_t {
  kPerPacket,  ///< every packet through the queues of all links of its way
  kFluid,      ///< rates from event to event; what windows and losses decide segment by segment
};
inline constexpr std::array<std::string_view, 2> kDetailNames = {"per-packet", "fluid"};

constexpr std::string_view name_of(Detail detail) {
  return kDetailNames[static_cast<std::size_t>(detail)];
}

/// Empty: no such name.
constexpr std::optional<Detail> detail_named(std::string_view name) {
  for (const Detail each : {Detail::kPerPacket, Detail::kFluid})
    if (name == name_of(each)) return each;
  return std::nullopt;
}

}  // namespace gradwire::sim
