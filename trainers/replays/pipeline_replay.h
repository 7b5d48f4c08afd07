#pragma once
#include <memory>

#include "scenarios/trainer.h"

namespace gradwire::trainers {

/// A workload of kind `pipeline`: its step graph (sim/graph/pipeline.h), a stage's next step after
/// its own update. Each step adds two figures: `pipeline_bubble`, the share of the step in which a
/// stage does nothing, a mean over stages; `kept_activations`, the most micro-batches of which some
/// stage held the activations at once.
std::unique_ptr<scenarios::Trainer> make_pipeline_replay(const scenarios::Scenario& scenario);

}  // namespace gradwire::trainers
