#pragma once
#include <memory>

#include "scenarios/trainer.h"

namespace gradwire::trainers {

/// A workload of kind `recording`: what the ranks of somebody's PyTorch script called and computed
/// (`gradwire torch`), rank r on worker r, step after step. Nothing is trained: there is no loss,
/// no accuracy, no learning hash (0). Compute times are the recorded ones times
/// /workload/compute_scale and the worker's slowdown.
std::unique_ptr<scenarios::Trainer> make_recorded_replay(const scenarios::Scenario& scenario);

}  // namespace gradwire::trainers
