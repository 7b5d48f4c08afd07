#pragma once
#include <vector>

#include "sim/graph/collective.h"

/// Aggregation in switches (sim/graph/collectives/in_network.cc), in the manner of SwitchML (Sapio
/// et al., "Scaling distributed machine learning with in-network aggregation", 2021) and SHARP.
namespace gradwire::sim {

/// Pieces that follow one another through the tree: of 64 KiB, 64 at most.
std::int32_t in_network_chunks(const CollectiveSpec& spec);
/// By rank; empty for workers.
std::vector<std::vector<std::int32_t>> in_network_children(const CollectiveSpec& spec);

}  // namespace gradwire::sim
