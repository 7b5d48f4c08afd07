#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trainers/schedules/learner.h"

/// What each rank of a run would hold for itself, in bytes. One process plays all ranks and keeps a
/// single copy of what is equal at all of them, so its own memory says little about theirs.
namespace gradwire::trainers {

/// Who holds what, which only the schedule knows.
struct MemoryRoles {
  std::int64_t optimizer_bytes = 0;  ///< what the update rule remembers, of one model
  std::int64_t worker_bytes = 0;     ///< what the schedule has a worker remember
  bool server = false;               ///< there is one
  bool updates_at_server = false;    ///< which holds weights and the optimiser's state, too
  bool states_on_device = false;     ///< codecs' lie in a device's memory: not counted
  std::optional<std::int64_t> parameter_bytes = {};  ///< a worker's; absent: 4 a parameter
  std::optional<std::int64_t> gradient_bytes = {};   ///< the same
  std::int64_t host_bytes = 0;                       ///< in the memory of a worker's host
  std::int64_t offload_bytes = 0;  ///< between device and host in a step, both ways
  std::int64_t bucket_bytes = 0;   ///< whole buckets that a worker of parts has for a while
};

/// Figures of the run. Of a worker: `memory_parameters_bytes` (running statistics included),
/// `memory_gradients_bytes`, `memory_optimizer_bytes`, `memory_activations_bytes` (what the forward
/// pass over a batch keeps for the backward pass), `memory_method_bytes` (residuals, momenta, sums
/// of local steps: of the worker that has most), `memory_buckets_bytes` (where workers hold parts
/// of gradients or weights: the whole buckets of them that are there for a while, at most); with
/// /exchange/offload `memory_host_bytes` (in the memory of its host: state, weights and gradients
/// of what it updates) and `offload_bytes` (over the link between the two in a step). Of the
/// server, between steps: `memory_server_bytes`. A figure that cannot be counted is left out.
std::vector<scenarios::Figure> memory_figures(const Learner& learner, const MemoryRoles& roles);

/// Throws TrainerError where this process, which plays all workers, has not even the memory for
/// `each` vectors of a model's size at each of them, `what`: it would be killed on its way, hours
/// later perhaps.
void require_memory(const Learner& learner, std::string_view what, int each = 1);

}  // namespace gradwire::trainers
