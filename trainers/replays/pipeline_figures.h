#pragma once
#include <vector>

#include "scenarios/trainer.h"

namespace gradwire::trainers {

/// Figures of a step of a pipeline (sim/graph/pipeline.h), whose stages are the graph's first
/// `stages` hosts: `pipeline_bubble`, the share of the step in which a stage computes nothing, a
/// mean over stages; `exposed_transfer_s`, how long a stage waited for messages that were on their
/// way, a mean over stages; `kept_activations`, the most micro-batches of which some stage held the
/// activations at once.
std::vector<scenarios::Figure> pipeline_figures(const sim::GraphTemplate& graph,
                                                const sim::Timeline& timeline, int stages);

}  // namespace gradwire::trainers
