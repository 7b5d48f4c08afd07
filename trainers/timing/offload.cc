#include "trainers/timing/offload.h"

#include "scenarios/kernels/model_family.h"
#include "trainers/scenario_update.h"
#include "trainers/trainer_error.h"
#include "trainers/updates/shards.h"

namespace gradwire::trainers {
namespace {

/// A layer table has none of its own.
UpdateSettings usual_rule(const scenarios::Scenario& scenario) {
  const auto table = scenarios::load_workload_profile(scenario.workload.profile, scenario.file);
  if (scenarios::trained_by_adam(table)) return {"adam", {}};
  return {"sgd", {{"momentum", "0.9"}}};
}

/// That a step of the scenario's rule moves.
int update_bytes(const scenarios::Scenario& scenario) {
  const bool trains = scenario.workload.kind == scenarios::WorkloadKind::kTraining;
  return make_update_rule(trains ? update_settings(scenario) : usual_rule(scenario))
      ->bytes_per_element();
}

}  // namespace

scenarios::DeviceProfile::Host host_of(const scenarios::Scenario& scenario) {
  const scenarios::Exchange::Offload& given = *scenario.exchange.offload;
  scenarios::DeviceProfile::Host host{given.bandwidth.value() / 8,
                                      given.memory_bandwidth.value() / 8};
  if (host.link_bytes_per_second > 0 && host.memory_bytes_per_second > 0) return host;
  const std::string& device = scenario.cluster.device;
  if (device != "cpu" && device != "cuda") {
    if (const auto own = scenarios::load_device_profile(device, scenario.file).host) {
      if (host.link_bytes_per_second == 0) host.link_bytes_per_second = own->link_bytes_per_second;
      if (host.memory_bytes_per_second == 0)
        host.memory_bytes_per_second = own->memory_bytes_per_second;
      return host;
    }
  }
  throw TrainerError("offload state from device", device, "it has no figures of a host",
                     "give bandwidth and memory_bandwidth in /exchange/offload",
                     ErrorKind::kScenario);
}

void take_update_times(const scenarios::Scenario& scenario, const Layout& layout,
                       scenarios::ComputeProfile& times) {
  const int ranks = state_parts(scenario);
  if (ranks > 1) times.update = times.update * share_of_largest(layout, ranks);
  if (!scenario.exchange.offload) return;
  const auto host = host_of(scenario);
  times.update = Seconds(static_cast<double>(largest_shard(layout, ranks)) *
                         update_bytes(scenario) / host.memory_bytes_per_second);
  for (std::size_t b = 0; b < times.buckets.size(); ++b) {
    const std::int64_t elements = largest_shard(layout.buckets()[b], ranks);
    times.buckets[b].to_host = times.buckets[b].from_host =
        Seconds(4.0 * static_cast<double>(elements) / host.link_bytes_per_second);
  }
}

std::int64_t offloaded_bytes(const scenarios::Scenario& scenario, const Layout& layout) {
  if (!scenario.exchange.offload) return 0;
  const int ranks = state_parts(scenario);
  return 2 * 4 * largest_shard(layout, ranks);
}

}  // namespace gradwire::trainers
