#pragma once
#include <string>

#include "scenarios/checks/rules.h"

namespace gradwire::scenarios {

/// Pipelines, federated rounds and gossip: what cannot be. Workload and number of workers are
/// sound.
void check_repeated(const Rules& rules);

/// Of federated rounds, replayed or trained. `base`: where their fields stand; `clocked`: executors
/// by whose clock a round can be cut off.
void check_clients(const Rules& rules, const std::string& base, int sample, double drop_out,
                   Seconds deadline, const std::string& clocked);

}  // namespace gradwire::scenarios
