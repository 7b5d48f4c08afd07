#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/prediction/step_fit.h"
#include "results/store/store.h"
#include "scenarios/scenario.h"

/// Closed-form predictions for scenarios.
namespace gradwire::runner {

/// The step of a scenario, without running it. Workloads without training: from their step graph.
/// Training: compute, codec and message figures of a finished run of the same model, method and
/// batch among `stored` (the one with the nearest number of workers), on this scenario's network.
/// Throws Error where there is no closed form for the exchange, or no such run.
results::StepSummary summary_of(const scenarios::Scenario& scenario, const results::Store* store,
                                std::span<const results::RunSummary> stored);

}  // namespace gradwire::runner
