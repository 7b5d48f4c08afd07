#pragma once
#include <memory>

#include "scenarios/trainer.h"

namespace gradwire::trainers {

/// A workload of kind `pipeline`: its step graph (sim/graph/pipeline.h), a stage's next step after
/// its own update. Each step adds the figures of pipeline_figures.h.
std::unique_ptr<scenarios::Trainer> make_pipeline_replay(const scenarios::Scenario& scenario);

}  // namespace gradwire::trainers
