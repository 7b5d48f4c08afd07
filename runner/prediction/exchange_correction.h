#pragma once
#include "results/prediction/step_summary.h"
#include "scenarios/scenario.h"

namespace gradwire::runner {

/// What the step's exchange takes on the scenario's network over the closed form with its usual
/// constants: messages of four sizes are exchanged alone on executor `flow`, over warm connections
/// (three times; nine times where packets are lost or rates change, and their mean). A
/// scatter-reduce is simulated as a direct all-gather of a chunk and a ring's.
results::Correction simulated_correction(const scenarios::Scenario& scenario,
                                         const results::StepSummary& step);

}  // namespace gradwire::runner
