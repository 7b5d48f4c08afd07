#pragma once
#include "sim/executor.h"
#include "sim/step_graph.h"

namespace gradwire::sim {

/// Where one worker's time in a step went. step = from this host's first operation to the end of
/// the last thing that concerns the worker: its operations, transfers from or to it, its rank of a
/// collective.
///     compute  = time in which an operation on its compute lane ran (sum)
///     codec    = the same of its codec and host lanes (it may overlap with compute)
///     exposed  = step - time covered by any of these lanes: communication (and waiting for others)
///                that nothing hides
struct StepSplit {
  Seconds step{0};
  Seconds compute{0};
  Seconds codec{0};
  Seconds exposed{0};
};

/// `timeline` belongs to `graph`; what has not ended does not count.
StepSplit split_of(const GraphTemplate& graph, const Timeline& timeline, int host);

}  // namespace gradwire::sim
