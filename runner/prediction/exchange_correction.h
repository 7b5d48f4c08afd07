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
/// closed form with its usual constants is up to a third off, with losses more. There the step is
/// simulated on `flow`, and its exchanges are corrected so that it takes as long
/// (StepSummary::correction_error): 15 steps or fewer of large messages, over windows that have
/// opened; where packets are lost or workers vary, eight seeds or more until the mean is known to
/// 3 %, or some 10^6 transfers have been. Of a workload that would be trained for it the smallest
/// and the largest message, and what goes before them, are exchanged alone. Seconds, a quarter of a
/// minute at most. Where that would take longer, where links are alike, or follow traces, the step
/// stays as it is. Throws as mean_step().
void correct_by_simulation(const scenarios::Scenario& scenario, results::StepSummary& step);

}  // namespace gradwire::runner
