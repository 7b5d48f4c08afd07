#include "results/advice/steps_to_target.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "results/runs/scenario_view.h"

namespace gradwire::results {
namespace {

int workload_number(const RunSummary& run, const char* name, int missing) {
  double value = missing;
  number_from(scenario_value(run.header.scenario_json, std::string("/workload/") + name), value);
  return static_cast<int>(value);
}

/// Steps done when the accuracy was first seen; empty where it never was.
std::optional<double> steps_of(const Store& store, RunId run, double accuracy) {
  for (const MetricRow& metric : store.metrics(run))
    if (metric.name == "accuracy" && metric.step >= 0 && metric.value >= accuracy)
      return static_cast<double>(metric.step + 1);
  return std::nullopt;
}

std::string batch_text(std::int64_t batch) {
  return "a batch of " + std::to_string(batch);
}

std::string basis_of(const TrainedSteps& trained) {
  return std::to_string(trained.steps.n) + " of " + std::to_string(trained.runs) + " seeds of " +
         trained.model + " trained with " + batch_text(trained.global_batch()) +
         (trained.evaluate_every > 1
              ? ", evaluated every " + std::to_string(trained.evaluate_every) + " steps"
              : "");
}

/// The trained batch nearest to `global_batch` by ratio.
const TrainedSteps* nearest(std::span<const TrainedSteps> trained, const std::string& method,
                            std::int64_t global_batch) {
  const auto far = [&](const TrainedSteps& one) {
    return std::abs(
        std::log(static_cast<double>(one.global_batch()) / static_cast<double>(global_batch)));
  };
  const TrainedSteps* best = nullptr;
  for (const TrainedSteps& one : trained)
    if (one.method == method && one.global_batch() > 0 && (!best || far(one) < far(*best)))
      best = &one;
  return best;
}

[[noreturn]] void refuse(const std::string& method, const std::string& reason,
                         const std::string& remedy) {
  throw Error(ErrorKind::kFailure, "say the steps to the accuracy with", method, reason, remedy);
}

}  // namespace

std::vector<TrainedSteps> steps_to_target(const Store& store, std::span<const RunSummary> runs,
                                          double accuracy) {
  if (!(accuracy > 0 && accuracy <= 1))
    throw Error(ErrorKind::kUsage, "look for the accuracy", std::to_string(accuracy),
                "it is no share of samples", "say 0.9 for 90 %");
  // Of several runs of one seed the latest counts: they are not independent.
  using Key = std::tuple<std::string, std::string, std::string, int, int, int>;
  std::map<Key, std::map<std::uint64_t, std::optional<double>>> found;
  for (const RunSummary& run : runs) {
    if (run.status != RunStatus::kFinished || !run.final_accuracy) continue;
    found[{run.header.model, run.header.data_set, run.header.method, run.header.workers,
           workload_number(run, "batch_per_worker", 0), workload_number(run, "evaluate_every", 1)}]
         [run.header.seed] = steps_of(store, run.id, accuracy);
  }
  std::vector<TrainedSteps> trained;
  for (const auto& [key, seeds] : found) {
    std::vector<double> steps;
    for (const auto& [seed, taken] : seeds)
      if (taken) steps.push_back(*taken);
    const auto& [model, data, method, workers, batch, every] = key;
    trained.push_back({model, data, method, workers, batch, static_cast<int>(seeds.size()),
                       statistic(steps), every});
  }
  return trained;
}

StepsAnswer steps_for(std::span<const TrainedSteps> trained, const std::string& method,
                      std::int64_t global_batch, StepsAssumption assumption) {
  const TrainedSteps* known = nearest(trained, method, global_batch);
  if (!known)
    refuse(method, "no finished training run with it is among the runs",
           "train it (gradwire run), or widen --filter");
  if (known->steps.n == 0)
    refuse(method,
           "none of " + std::to_string(known->runs) + " runs with " +
               batch_text(known->global_batch()) + " reached it",
           "train longer, or lower the target");
  StepsAnswer answer{known->steps.mean,
                     std::max(1.0, known->steps.least - known->evaluate_every + 1),
                     known->steps.greatest, basis_of(*known)};
  if (known->global_batch() == global_batch) return answer;
  if (assumption == StepsAssumption::kNone)
    refuse(method,
           batch_text(global_batch) + " was never trained, only " +
               batch_text(known->global_batch()) + " is near",
           "train it, or say what to assume: --assume-steps same or --assume-steps samples");
  answer.provenance = Provenance::kAssumed;
  if (assumption == StepsAssumption::kSameSteps) {
    answer.basis += "; assumed: as many steps with " + batch_text(global_batch);
    return answer;
  }
  const double factor =
      static_cast<double>(known->global_batch()) / static_cast<double>(global_batch);
  for (double* value : {&answer.steps, &answer.low, &answer.high}) *value *= factor;
  answer.basis += "; assumed: as many samples with " + batch_text(global_batch);
  return answer;
}

}  // namespace gradwire::results
