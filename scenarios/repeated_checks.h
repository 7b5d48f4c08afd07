#pragma once
#include "scenarios/executor_checks.h"

namespace gradwire::scenarios {

/// Pipelines, federated rounds and gossip: what cannot be. Workload and number of workers are
/// sound.
void check_repeated(const Scenario& scenario, const Told& refuse);

}  // namespace gradwire::scenarios
