#pragma once
#include "scenarios/scenario.h"
#include "trainers/updates/catalogue.h"

/// How a scenario's weights are updated.
namespace gradwire::trainers {

/// The rule and its options. `applies_momentum`: methods::SetPlan::update_momentum; without it the
/// rule has none. The short form: as most of the method's steps have it.
UpdateSettings update_settings(const scenarios::Scenario& scenario, bool applies_momentum);
UpdateSettings update_settings(const scenarios::Scenario& scenario);

/// Passes over `samples` training samples in `steps` steps, or rounds.
double epochs_of(const scenarios::Scenario& scenario, std::size_t samples, std::int64_t steps);

/// Complete: ready for rate_at().
RateSchedule rate_schedule(const scenarios::Scenario& scenario, std::size_t samples);

/// Samples of a pass: of a worker's batch, or of the largest of its micro-batches.
inline int samples_of_pass(const scenarios::Workload& workload) {
  return (workload.batch_per_worker + workload.micro_batches - 1) / workload.micro_batches;
}

/// The scenario's stage of ZeRO; 0 for a lone worker, who holds everything anyway.
inline int zero_stage(const scenarios::Scenario& scenario) {
  return scenario.cluster.workers > 1 ? scenario.exchange.zero : 0;
}

/// Parts that the optimiser's state lies in, one a worker: all workers with ZeRO, else 1.
inline int state_parts(const scenarios::Scenario& scenario) {
  return zero_stage(scenario) > 0 ? scenario.cluster.workers : 1;
}

}  // namespace gradwire::trainers
