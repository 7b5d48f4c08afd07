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

/// Where links differ, which rank waits for which link decides what an exchange takes, and the
/// closed form with its usual constants is up to a third off. There the step's smallest and largest
/// message, and what goes before them, are exchanged alone on `flow`, and the step is corrected by
/// that (StepSummary::correction_error): over windows that have opened, 21 exchanges or fewer of
/// large messages; where packets are lost until the means are known to 3 % or some 10^5 transfers
/// have been. Seconds at most. Where links are alike, or follow traces, the step stays as it is.
void correct_by_simulation(const scenarios::Scenario& scenario, results::StepSummary& step);

}  // namespace gradwire::runner
