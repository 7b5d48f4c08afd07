#include <filesystem>
#include <iostream>
#include <mutex>

#include "trainers/heap.h"
#include "trainers/lossy_trainer.h"
#include "trainers/synchronous_trainer.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

std::string data_path(const scenarios::Scenario& scenario) {
  const std::filesystem::path path(scenario.workload.data_path);
  if (path.empty() || path.is_absolute()) return path.string();
  return (std::filesystem::path(scenario.file).parent_path() / path).string();
}

/// True if whole steps stay on the GPU; says once why not.
bool stays_on_device(const scenarios::Scenario& scenario) {
  const std::string reason = why_steps_leave_device(device_codec_settings(scenario));
  static std::once_flag said;
  if (!reason.empty()) {
    std::call_once(said, [&] {
      std::cerr << "gradwire: device cuda computes the passes, but gradients are encoded and "
                   "weights updated on the host: "
                << reason << "\n";
    });
  }
  return reason.empty();
}

}  // namespace

std::unique_ptr<scenarios::Trainer> make_trainer(const scenarios::Scenario& scenario,
                                                 const scenarios::TrainerOptions& options) {
  if (scenario.workload.kind != scenarios::WorkloadKind::kTraining) {
    throw TrainerError("train", scenario.name, "its workload is not a training run");
  }
  keep_heap();
  auto data = std::make_unique<DataSet>(
      load_data_set(scenario.workload.data_set, data_path(scenario), scenario.seed));
  // Gradients are then combined on the host, a worker at a time.
  const bool loses =
      scenario.network.transport.protocol == sim::TransportSettings::Protocol::kUdpLossy;
  // Only "cuda" computes on a GPU; a device profile replaces times, not arithmetic.
  const std::string device = scenario.cluster.device == "cuda" ? "cuda" : "cpu";
  auto model = make_model(scenario.workload.model, *data, device,
                          device == "cuda" && !loses && stays_on_device(scenario));
  if (loses)
    return std::make_unique<LossyTrainer>(scenario, options, std::move(data), std::move(model));
  return std::make_unique<SynchronousTrainer>(scenario, options, std::move(data), std::move(model));
}

}  // namespace gradwire::trainers
