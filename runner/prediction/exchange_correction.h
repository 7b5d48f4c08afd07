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

/// Where links differ and lose packets, the closed form with its usual constants is 15 to 20 % off:
/// which path loses decides who waits. There the step's smallest and largest message, and what goes
/// before them, are exchanged alone on `flow`, as above, until their means are known to 3 % or some
/// 10^5 transfers have been, and the step is corrected by that (StepSummary::correction_error).
/// Elsewhere it stays as it is.
void correct_for_losses(const scenarios::Scenario& scenario, results::StepSummary& step);

}  // namespace gradwire::runner
