#include <algorithm>
#include <iostream>
#include <mutex>
#include <utility>

#include "scenarios/data_sets.h"
#include "scenarios/methods.h"
#include "scenarios/share.h"
#include "trainers/scenario_update.h"
#include "trainers/schedules/asynchronous/asynchronous_trainer.h"
#include "trainers/schedules/gossip/asynchronous_gossip.h"
#include "trainers/schedules/gossip/gossip_trainer.h"
#include "trainers/schedules/pipeline/pipeline_trainer.h"
#include "trainers/schedules/rounds/rounds_trainer.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/timing/heap.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

DataChoice data_choice(const scenarios::Scenario& scenario) {
  const scenarios::Workload& workload = scenario.workload;
  const auto seen_from_here = [&](const std::string& path) {
    return path.empty() ? path : scenarios::relative_to_file(path, scenario.file);
  };
  DataChoice choice{workload.data_set, seen_from_here(workload.data_path), workload.data_options,
                    scenario.seed, workload.data_seed};
  for (auto& [option, value] : choice.options)
    if (scenarios::is_path_option(option)) value = seen_from_here(value);
  return choice;
}

ModelChoice model_choice(const scenarios::Scenario& scenario) {
  const scenarios::Workload& workload = scenario.workload;
  ModelChoice choice(workload.model);
  choice.hidden = workload.hidden;
  choice.activation = workload.activation;
  choice.bias = workload.bias;
  choice.normalised = workload.normalisation == "batch";
  choice.evonorm = workload.normalisation == "range-evonorm";
  choice.rule_floats = scenarios::training_method(scenario)->passes().layer_floats;
  choice.embedding = workload.embedding;
  choice.heads = workload.heads;
  choice.loss = workload.loss;
  if (!workload.model_file.empty())
    choice.file = scenarios::relative_to_file(workload.model_file, scenario.file);
  return choice;
}

/// Empty if the codec and the update rule can keep whole steps on a CUDA device, else why not.
std::string why_steps_leave_device(const scenarios::Scenario& scenario) {
  if (!make_update_rule(update_settings(scenario))->on_device())
    return "optimiser " + scenario.workload.optimizer + " has no CUDA version with these options";
  return why_steps_leave_device(device_codec_settings(scenario));
}

/// Why gradients are encoded and weights updated on the host although the passes are computed on a
/// GPU; empty where whole steps stay there, or nothing is computed there. Said once, too.
std::string why_on_host(const scenarios::Scenario& scenario) {
  if (scenario.cluster.device != "cuda") return "";
  const bool by_themselves =
      scenario.schedule.kind != "lockstep" || scenario.schedule.local_steps > 1;
  const bool computes = scenarios::training_method(scenario)->computes();
  const std::string reason =
      loses_data(scenario) ? "each worker's own mean is made of what has reached it"
      : scenario.schedule.kind == "pipeline" ? "stages send each other what the host has encoded"
      : by_themselves                        ? "workers' weights differ"
      : zero_stage(scenario) > 0             ? "workers hold parts of the optimiser's state"
      : scenario.workload.micro_batches > 1  ? "gradients of micro-batches are added up"
      : scenario.exchange.offload            ? "the optimiser's state lies in the host's memory"
      : computes                             ? "the method takes gradients at other weights, too"
                                             : why_steps_leave_device(scenario);
  if (reason.empty()) return "";
  const std::string note =
      "device cuda computes the passes, but gradients are encoded and weights updated on the "
      "host: " +
      reason;
  static std::once_flag said;
  std::call_once(said, [&] { std::cerr << "gradwire: " << note << "\n"; });
  return note;
}

using Maker = std::unique_ptr<scenarios::Trainer> (*)(const scenarios::Scenario&,
                                                      const scenarios::TrainerOptions&,
                                                      std::unique_ptr<DataSet>,
                                                      std::unique_ptr<Model>,
                                                      const std::string& note);

template <class Kind>
std::unique_ptr<scenarios::Trainer> make(const scenarios::Scenario& scenario,
                                         const scenarios::TrainerOptions& options,
                                         std::unique_ptr<DataSet> data,
                                         std::unique_ptr<Model> model, const std::string& note) {
  auto trainer = std::make_unique<Kind>(scenario, options, std::move(data), std::move(model));
  trainer->add_note(note);
  return trainer;
}

Maker find_maker(const scenarios::ScheduleChoice& schedule) {
  if (schedule.patience) return make<AsynchronousGossip>;
  constexpr std::pair<const char*, Maker> kMakers[] = {{"lockstep", make<SynchronousTrainer>},
                                                       {"rounds", make<RoundsTrainer>},
                                                       {"asynchronous", make<AsynchronousTrainer>},
                                                       {"gossip", make<GossipTrainer>},
                                                       {"pipeline", make<PipelineTrainer>}};
  const auto found =
      std::ranges::find_if(kMakers, [&](const auto& row) { return row.first == schedule.kind; });
  GRADWIRE_ASSERT(found != std::end(kMakers));
  return found->second;
}

}  // namespace

std::unique_ptr<scenarios::Trainer> make_trainer(const scenarios::Scenario& scenario,
                                                 const scenarios::TrainerOptions& options) {
  if (scenario.workload.kind != scenarios::WorkloadKind::kTraining) {
    throw TrainerError("train", scenario.name, "its workload is not a training run");
  }
  keep_heap();
  auto data = std::make_unique<DataSet>(load_data_set(data_choice(scenario)));
  // Only "cuda" computes on a GPU; a device profile replaces times, not arithmetic.
  const std::string device = scenario.cluster.device == "cuda" ? "cuda" : "cpu";
  const std::string note = why_on_host(scenario);
  auto model = make_model(model_choice(scenario), *data, device, device == "cuda" && note.empty());
  return find_maker(scenario.schedule)(scenario, options, std::move(data), std::move(model), note);
}

}  // namespace gradwire::trainers
