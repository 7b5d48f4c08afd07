#pragma once
#include <span>
#include <string>
#include <string_view>

#include "scenarios/document/overrides.h"

/// Networks of machines by name: what a link to the switch is like, and what it speaks.
namespace gradwire::scenarios {

struct NamedNetwork {
  std::string_view name;
  std::string_view bandwidth;  ///< of a link, each way
  std::string_view delay;      ///< one way, of a link: two of them between two hosts
  std::string_view protocol;   ///< /network/transport/protocol
  std::string_view source;     ///< of the figures
};
std::span<const NamedNetwork> named_networks();

/// "1gbe, 10gbe, ..."
std::string names_of_networks();

/// What --network NAME stands for: /network/link/bandwidth, /delay and the transport's protocol.
/// Throws Error for a name that nobody knows, with the nearest.
Overrides overrides_of_network(std::string_view name);

}  // namespace gradwire::scenarios
