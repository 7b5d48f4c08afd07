#pragma once
#include <nlohmann/json_fwd.hpp>

#include "sim/cluster/cluster.h"

namespace gradwire::sim {

/// The links of a cluster as {"schedules", "links", "cells"}: schedules once each, however many
/// links follow them; for all links of a cell, which follow from it, the cell's number.
nlohmann::json encode_links(const Cluster& cluster);
/// Adds encoded links to `cluster`. Precondition: it has its nodes.
void decode_links(const nlohmann::json& value, Cluster& cluster);

}  // namespace gradwire::sim
