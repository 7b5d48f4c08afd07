#pragma once
#include <memory>

#include "scenarios/trainer.h"

namespace gradwire::runner {

/// Workloads without training: a layer profile, one collective repeated, a pipeline, federated
/// rounds, or an explicit list of transfers. They make step graphs like a trainer does, and have no
/// loss, no accuracy and no learning hash (0). Throws Error for workloads that cannot be replayed.
std::unique_ptr<scenarios::Trainer> make_replay(const scenarios::Scenario& scenario);

}  // namespace gradwire::runner
