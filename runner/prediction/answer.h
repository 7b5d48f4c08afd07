#pragma once
#include <string>

#include "results/prediction/solve_checked.h"
#include "runner/prediction/step_times.h"
#include "scenarios/scenario.h"

/// Answers to inverse questions, simulated by flow.
namespace gradwire::runner {

/// The scenario whose step a search for the quantity starts from: itself, or of one worker, whose
/// step says nothing of its links, that of two where workers are searched for. Throws Error
/// (kUsage) where one worker is asked for another quantity: it sends nothing.
scenarios::Scenario search_start(const scenarios::Scenario& scenario, results::SolveFor quantity);

/// Why answers for the scenario cannot be simulated; empty where they can: its step is one of a
/// profile or a collective, and its links have what is asked for.
std::string cannot_simulate(const scenarios::Scenario& scenario, const results::StepSummary& step,
                            results::SolveFor quantity);

/// Why simulating so much takes too long, hours where answers come in seconds; empty where it does
/// not. `step`: as it is where the quantity has the value that would be simulated.
std::string too_long_to_simulate(const results::StepSummary& step);

/// What the quantity's value makes of the step's links and messages; nothing of its workers.
StepChanges changes_of(const results::StepSummary& step, results::SolveFor quantity, double value);

/// The mean of the scenario's steps (but the first) on flow where the quantity has this value:
/// every link's rate in proportion, every link's delay in proportion, so many workers, or so large
/// a share of every message; as many of them as sampling_of() says (runner/prediction/mean_step.h),
/// seeds from the scenario's on, other ones for another `sample`. Throws Error for a scenario that
/// cannot be, and as mean_step() does. Precondition (assertion): cannot_simulate() is empty.
results::StepPoint simulate_answer(const scenarios::Scenario& scenario,
                                   const results::StepSummary& step, results::SolveFor quantity,
                                   double value, int sample = 0);

}  // namespace gradwire::runner
