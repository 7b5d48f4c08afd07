#include "runner/prediction/prediction.h"

#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.h"
#include "results/prediction/stored_summary.h"
#include "runner/record/step_summary.h"
#include "runner/training/trainer_module.h"
#include "scenarios/methods.h"

namespace gradwire::runner {
namespace {

using nlohmann::ordered_json;

[[noreturn]] void refuse(const scenarios::Scenario& scenario, const std::string& reason,
                         const std::string& remedy) {
  throw Error(ErrorKind::kFailure, "predict", scenario.name, reason, remedy);
}

results::StepSummary from_graph(const scenarios::Scenario& scenario, const sim::Cluster& cluster) {
  const auto trainer = make_trainer(scenario, {});
  const scenarios::ComputeProfile& profile = trainer->prepare();
  scenarios::StepPlan plan;
  if (!trainer->next(plan)) refuse(scenario, "it has no step", "");
  const auto step = summarize(scenario, cluster, profile, plan);
  if (!step)
    refuse(scenario, "no closed form describes its exchange", "run it with --executor flow");
  return *step;
}

/// Whether the run trained what the scenario trains: the parts that decide compute and messages.
bool same_training(const results::RunSummary& run, const scenarios::Scenario& scenario) {
  const ordered_json ran = ordered_json::parse(run.header.scenario_json, nullptr, false);
  if (ran.is_discarded()) return false;
  for (const char* part :
       {"/workload/model", "/workload/hidden", "/workload/activation", "/workload/bias",
        "/workload/normalisation", "/workload/embedding", "/workload/heads",
        "/workload/checkpoint_activations", "/workload/data", "/workload/micro_batches",
        "/workload/batch_per_worker", "/method", "/exchange", "/cluster/device"}) {
    const ordered_json::json_pointer pointer(part);
    const bool here = scenario.json.contains(pointer), there = ran.contains(pointer);
    if (here != there || (here && scenario.json.at(pointer) != ran.at(pointer))) return false;
  }
  return true;
}

results::StepSummary from_runs(const scenarios::Scenario& scenario, const sim::Cluster& cluster,
                               const results::Store* store,
                               std::span<const results::RunSummary> stored) {
  std::optional<results::StepSummary> nearest;
  double distance = 0;
  for (const results::RunSummary& run : stored) {
    if (run.status != results::RunStatus::kFinished || !same_training(run, scenario)) continue;
    const auto step = results::stored_summary(store->metrics(run.id));
    if (!step) continue;
    const double far = std::abs(std::log2(static_cast<double>(step->workers) /
                                          static_cast<double>(scenario.cluster.workers)));
    if (nearest && far >= distance) continue;
    nearest = step;
    distance = far;
  }
  if (!nearest)
    refuse(scenario, "no finished run of this model, method and batch is stored",
           "run it once, with a few workers; gradwire run keeps what is needed");
  nearest->workers = scenario.cluster.workers;
  take_paths(cluster, scenario.network.transport, *nearest);
  return *nearest;
}

/// Other numbers of workers on the scenario's network, each built once.
class OtherNumbers {
 public:
  explicit OtherNumbers(const scenarios::Scenario& scenario)
      : json_(scenario.json.dump()), file_(scenario.file) {}

  std::optional<results::StepSummary> operator()(const results::StepSummary& step, int workers) {
    const auto found = known_.find(workers);
    if (found != known_.end()) return found->second;
    std::optional<results::StepSummary> there = step;
    if (!take_paths_on(json_, file_, workers, *there))
      there.reset();
    else if (step.correction_error)  // what the form is off here it is about there, too
      std::tie(there->correction, there->prelude_correction) =
          std::tie(step.correction, step.prelude_correction);
    return known_.emplace(workers, std::move(there)).first->second;
  }

 private:
  std::string json_, file_;
  std::map<int, std::optional<results::StepSummary>> known_;
};

}  // namespace

results::StepSummary summary_of(const scenarios::Scenario& scenario, const results::Store* store,
                                std::span<const results::RunSummary> stored) {
  const sim::Cluster cluster = scenarios::build_cluster(scenario);
  if (const auto why = without_closed_form(scenario, cluster); !why.empty())
    refuse(scenario, std::string(why), "run it with --executor flow");
  results::StepSummary step = scenario.workload.kind == scenarios::WorkloadKind::kTraining
                                  ? from_runs(scenario, cluster, store, stored)
                                  : from_graph(scenario, cluster);
  if (const auto why = without_room(step, cluster, scenario.network.transport); !why.empty())
    refuse(scenario, std::string(why), "run it with --executor flow");
  if (scenario.network.topology != "star")  // whose paths are the same, whatever their number
    step.on_workers = std::make_shared<const results::StepOnWorkers>(
        [others = std::make_shared<OtherNumbers>(scenario)](const auto& of, int workers) {
          return (*others)(of, workers);
        });
  return step;
}

}  // namespace gradwire::runner
