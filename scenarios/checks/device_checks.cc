#include "scenarios/checks/device_checks.h"

#include <algorithm>
#include <set>

#include "scenarios/document/pointer.h"
#include "scenarios/methods.h"
#include "scenarios/profiles/layer_times.h"
#include "scenarios/profiles/memory_need.h"
#include "scenarios/profiles/profile.h"

namespace gradwire::scenarios {
namespace {

std::string size(double bytes) {
  return format_bytes(Bytes(static_cast<std::int64_t>(std::min(bytes, 9e18))));
}

/// Whether what a worker holds fits into its device.
void check_memory(const Rules& rules, const WorkloadProfile& workload,
                  const DeviceProfile& device) {
  const double has = device.peak->memory_bytes;
  if (has == 0 || !rules.sound({"/workload/batch_per_worker", "/cluster/workers", "/exchange"}))
    return;
  const Scenario& scenario = rules.scenario;
  const int parts = std::max(1, scenario.workload.micro_batches);
  const MemoryPlan plan = {.batch = (scenario.workload.batch_per_worker + parts - 1) / parts,
                           .segments = scenario.workload.checkpoint_activations,
                           .workers = scenario.cluster.workers,
                           .zero = scenario.exchange.zero,
                           .state_on_host = scenario.exchange.offload.has_value(),
                           .precision = scenario.workload.precision};
  const MemoryNeed need = memory_need(workload, plan);
  if (need.total() <= has) return;
  rules.warn("/workload/batch_per_worker",
             "a worker would hold about " + size(need.total()) + " (weights " + size(need.weights) +
                 ", gradients " + size(need.gradients) + ", the optimiser's state " +
                 size(need.optimizer) + ", activations of " + std::to_string(plan.batch) +
                 " samples " + size(need.activations) + "), device " + device.origin.name +
                 " has " + size(has) +
                 ": fewer samples, /workload/micro_batches, /workload/checkpoint_activations or "
                 "/exchange/zero need less");
}

void check_layer_times(const Rules& rules, const WorkloadProfile& workload) {
  if (!rules.sound({"/cluster/device", "/workload/precision"})) return;
  const std::string& device = rules.scenario.cluster.device;
  std::optional<DeviceProfile> profile;
  try {
    if (device != "cpu" && device != "cuda")
      profile = load_device_profile(device, rules.scenario.file);
  } catch (const Error&) {
    return;  // check_device says so
  }
  const std::string why = why_no_layer_times(workload, profile ? &*profile : nullptr,
                                             rules.scenario.workload.precision);
  if (why.empty()) {
    if (profile && profile->peak) check_memory(rules, workload, *profile);
    return;
  }
  rules.refuse("/cluster/device", why,
               devices_with_peak() + ", or what `gradwire profile` measured on this machine");
}

void check_segments(const Rules& rules, const WorkloadProfile& workload) {
  const char* const at = "/workload/checkpoint_activations";
  const int segments = rules.scenario.workload.checkpoint_activations;
  if (!rules.sound({at})) return;
  if (segments > static_cast<int>(workload.layers.size()))
    rules.refuse(
        at, "the table has " + std::to_string(workload.layers.size()) + " layers, no more segments",
        "2 to " + std::to_string(workload.layers.size()));
  else if (segments == 1)
    rules.warn(at, "a single segment keeps as much as none, and computes all of it twice");
}

}  // namespace

void check_profile(const Rules& rules) {
  if (!rules.sound({"/workload/profile"})) return;
  try {
    const WorkloadProfile workload =
        load_workload_profile(rules.scenario.workload.profile, rules.scenario.file);
    check_segments(rules, workload);
    check_layer_times(rules, workload);
  } catch (const Error& error) {
    rules.refuse("/workload/profile", error.what());
  }
}

namespace {

/// Empty for a method whose options do not go together, which its own check tells.
std::string codec_of(const Method& method) {
  try {
    return codec_plan(method).codec.name;
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

void check_device(const Rules& rules) {
  const std::string& device = rules.scenario.cluster.device;
  if (device == "cpu" || device == "cuda" || !rules.sound({"/cluster/device"})) return;
  try {
    const DeviceProfile profile = load_device_profile(device, rules.scenario.file);
    const std::string& model = rules.scenario.workload.model;
    if (rules.scenario.workload.kind == WorkloadKind::kTraining &&
        !profile.models.contains(model) && rules.sound({"/workload/model"}))
      rules.refuse("/cluster/device", "profile " + device + " has no times for model " + model);
    if (rules.scenario.workload.kind == WorkloadKind::kTraining && rules.scenario.workload.hidden)
      rules.warn("/cluster/device", "profile " + device + " has the times of " + model +
                                        " with its own hidden layers; they are not scaled to "
                                        "/workload/hidden");
    if (!rules.sound({"/method"})) return;
    const std::string codec = codec_of(rules.scenario.method);
    if (!codec.empty() && !profile.codecs.contains(codec))
      rules.refuse("/cluster/device", "profile " + device + " has no times for codec " + codec);
  } catch (const Error& error) {
    rules.refuse("/cluster/device", error.what(), "cpu, cuda, a device profile");
  }
}

void check_offload(const Rules& rules) {
  const std::optional<Exchange::Offload>& offload = rules.scenario.exchange.offload;
  if (!offload || !rules.sound({"/exchange", "/cluster/device"})) return;
  if (offload->bandwidth.value() > 0 && offload->memory_bandwidth.value() > 0) return;
  const std::string& device = rules.scenario.cluster.device;
  try {
    if (device != "cpu" && device != "cuda" &&
        load_device_profile(device, rules.scenario.file).host)
      return;
  } catch (const Error&) {
    return;  // check_device says so
  }
  rules.refuse("/exchange/offload",
               "device " + device + " has no figures of a host and the link to it",
               "with bandwidth and memory_bandwidth, or a device profile that has a host");
}

void check_stragglers(const Rules& rules) {
  if (!rules.sound({"/cluster"}) || !rules.scenario.json.contains("cluster")) return;
  const auto& cluster = rules.scenario.json["cluster"];
  if (!cluster.contains("stragglers")) return;
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < cluster["stragglers"].size(); ++i) {
    const std::string at = child_pointer("/cluster/stragglers", i) + "/worker";
    const auto worker = cluster["stragglers"][i]["worker"].get<std::int64_t>();
    if (worker >= rules.scenario.cluster.workers)
      rules.refuse(at, "there is no worker " + std::to_string(worker),
                   "0 to " + std::to_string(rules.scenario.cluster.workers - 1));
    if (!seen.insert(worker).second)
      rules.refuse(at, "worker " + std::to_string(worker) + " stands twice in the list");
  }
}

}  // namespace gradwire::scenarios
