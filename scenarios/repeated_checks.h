#pragma once
#include "scenarios/rules.h"

namespace gradwire::scenarios {

/// Pipelines, federated rounds and gossip: what cannot be. Workload and number of workers are
/// sound.
void check_repeated(const Rules& rules);

}  // namespace gradwire::scenarios
