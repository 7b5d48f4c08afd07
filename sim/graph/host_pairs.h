#pragma once
#include <compare>
#include <cstdint>
#include <vector>

#include "sim/graph/step_graph.h"

namespace gradwire::sim {

struct HostPair {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  auto operator<=>(const HostPair&) const = default;
};

/// Ordered pairs of hosts that a graph's transfers and collectives may use, ascending, each once.
std::vector<HostPair> pairs_of(const GraphTemplate& graph);

}  // namespace gradwire::sim
