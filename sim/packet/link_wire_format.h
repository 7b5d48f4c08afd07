#pragma once
#include <nlohmann/json_fwd.hpp>

#include "sim/cluster.h"

namespace gradwire::sim {

/// The links of a cluster as {"schedules", "links"}: schedules once each, however many links follow
/// them.
nlohmann::json encode_links(const Cluster& cluster);
/// Adds them to `cluster`, whose nodes are there.
void decode_links(const nlohmann::json& value, Cluster& cluster);

}  // namespace gradwire::sim
