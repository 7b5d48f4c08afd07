#include "trainers/schedules/memory_use.h"

#include "base/available_memory.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {

std::vector<scenarios::Figure> memory_figures(const Learner& learner, const MemoryRoles& roles) {
  const std::int64_t model = 4 * learner.layout().elements();
  const auto statistics = static_cast<std::int64_t>(learner.statistics().size_bytes());
  const StateStore::Shares states = learner.states().shares();
  const std::int64_t method = roles.worker_bytes + states.largest;
  // What stands for all is the server's, or, where there is none, every worker's.
  const std::int64_t common = states.server;

  std::vector<scenarios::Figure> figures;
  const auto add = [&](const char* name, std::int64_t bytes) {
    figures.push_back({name, static_cast<double>(bytes), "B"});
  };
  add("memory_parameters_bytes", roles.parameter_bytes.value_or(model) + statistics);
  add("memory_gradients_bytes", roles.gradient_bytes.value_or(model));
  add("memory_optimizer_bytes", roles.updates_at_server ? 0 : roles.optimizer_bytes);
  if (const auto activations = learner.activation_bytes())
    add("memory_activations_bytes", *activations);
  if (!roles.states_on_device) add("memory_method_bytes", method + (roles.server ? 0 : common));
  if (roles.bucket_bytes > 0) add("memory_buckets_bytes", roles.bucket_bytes);
  if (roles.host_bytes > 0) {
    add("memory_host_bytes", roles.host_bytes);
    add("offload_bytes", roles.offload_bytes);
  }
  if (roles.server)
    add("memory_server_bytes",
        common + (roles.updates_at_server ? model + statistics + roles.optimizer_bytes : 0));
  return figures;
}

void require_memory(const Learner& learner, std::string_view what, int each) {
  const auto workers = static_cast<double>(learner.workers());
  const double needed = 4.0 * each * workers * static_cast<double>(learner.layout().elements());
  const Bytes available = available_memory();
  if (available == Bytes(0) || needed <= static_cast<double>(available.count())) return;
  throw TrainerError("train", learner.scenario().workload.model,
                     std::string(what) + " of " + std::to_string(learner.workers()) +
                         " workers take " + format_bytes(Bytes(static_cast<std::int64_t>(needed))) +
                         ", and " + format_bytes(available) + " of memory are available",
                     "use fewer workers or a smaller model");
}

}  // namespace gradwire::trainers
