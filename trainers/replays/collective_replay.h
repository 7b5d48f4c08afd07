#pragma once
#include <memory>

#include "scenarios/trainer.h"

namespace gradwire::trainers {

/// A workload of kind `collective`, repeated; each worker computes before each repetition for as
/// long as the scenario says. Between repetitions a worker waits for its own part alone.
///
/// `auto` takes the fastest of ring, tree, halving-doubling and two-level all-reduce: each runs
/// once on executor `flow`, over the scenario's cluster without loss and with windows open from the
/// start. Two-level takes part where a group (a machine of gpu-nodes, else 8) is smaller than all.
std::unique_ptr<scenarios::Trainer> make_collective_replay(const scenarios::Scenario& scenario);

}  // namespace gradwire::trainers
