#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

/// Access networks by name: what a household's or a phone's link is like.
namespace gradwire::scenarios {

struct AccessNetwork {
  std::string_view name;
  std::string_view up;      ///< what its owner sends: /bandwidth
  std::string_view down;    ///< what its owner gets: /bandwidth_back
  std::string_view delay;   ///< one way: half of the round trip
  std::string_view source;  ///< of the figures
};
std::span<const AccessNetwork> access_networks();

/// Fills what a link that names its access network leaves open. A network that is not as it should
/// be is left alone: what is wrong with it is told elsewhere.
void add_access_networks(nlohmann::ordered_json& network);

}  // namespace gradwire::scenarios
