#pragma once
#include <cstdint>

#include "base/units.h"
#include "results/prediction/step_fit.h"
#include "runner/prediction/step_times.h"

namespace gradwire::runner {

/// How much is simulated for the mean of a scenario's steps.
struct StepSampling {
  int steps = 11;       ///< of one seed; the first, whose connections are fresh, never counts
  bool settled = true;  ///< only the second half counts: windows open in the first
  std::uint64_t first_seed = 1;
  int least_seeds = 1, most_seeds = 1;
  double wanted_error = 0.02;  ///< seeds are added until the mean is known to this share of it,
  double most_work = 5e6;      ///< or so much was simulated (work_of)
};
/// What simulating them took, in about a microsecond of one core: a transfer, or ten packets.
/// Counted, not timed: how well a mean is known does not depend on the machine or on what else it
/// does.
double work_of(const StepTimes& simulated);
/// What a step wants: few steps where all are alike, more and several seeds where chance decides.
StepSampling sampling_of(const results::StepSummary& step);

/// The mean time of the scenario's steps on its executor, and the closed-form summary of the last
/// seed's. Throws Error where no closed form describes the exchange, where the scenario cannot run,
/// and where a stop is asked for (runner/interrupt.h).
results::StepPoint mean_step(const scenarios::Scenario& scenario, const StepSampling& sampling,
                             const StepChanges& changes = {});

}  // namespace gradwire::runner
