#pragma once
#include <memory>

#include "scenarios/trainer.h"

namespace gradwire::trainers {

/// A workload of kind `federated`. A round: the server draws a sample of the clients and sends each
/// the model; each computes and sends its update; the server adds the updates as they come, one
/// after the other. The round ends with the last of them, or at its deadline: what the server has
/// not added by then is dropped, whatever of it is under way is cut off, and the next round starts.
///
/// A client that drops out takes the model and is not heard of again; the server, which cannot
/// know, waits for it until the deadline. Samples and drop-outs are Philox words keyed by (seed,
/// round, client).
///
/// Figures of a round, and their sums over the run: `clients_sampled`, `clients_arrived`,
/// `clients_late` (dropped at the deadline), `clients_dropped_out`.
std::unique_ptr<scenarios::Trainer> make_federated_replay(const scenarios::Scenario& scenario);

}  // namespace gradwire::trainers
