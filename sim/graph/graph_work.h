#pragma once
#include <span>

#include "base/units.h"
#include "sim/graph/step_graph.h"

namespace gradwire::sim {

/// What a graph makes whoever simulates it do, known before anything runs.
struct GraphWork {
  double transfers = 0;  ///< all hops of collectives counted
  double at_once = 0;  ///< hops of the largest collective that start before any has arrived, about
  double bytes = 0;    ///< payload, about
};

/// `bytes`: of the step, as the graph's operations read them. A collective is taken to be like what
/// its first rank, or its server, sends at its start: exact for rings and all gathers, up to twice
/// too much where messages shrink (halving-doubling). As quick as one operation of each rank.
GraphWork graph_work(const GraphTemplate& graph, std::span<const Bytes> bytes);

}  // namespace gradwire::sim
