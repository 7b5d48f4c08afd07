#include "runner/prediction/scalability.h"

#include <algorithm>
#include <map>
#include <memory>

#include "results/runs/scenario_view.h"
#include "results/scalability/series.h"
#include "runner/record/step_summary.h"

namespace gradwire::runner {
namespace {

using results::ScaleSeries;
using results::StepSummary;

/// What the series' network gives a step of `workers`, or why it cannot have that many.
class Sizes {
 public:
  explicit Sizes(std::vector<std::string>& remarks) : remarks_(remarks) {}

  StepSummary at(const ScaleSeries& series, const StepSummary& nearest, int workers) {
    const auto key = std::pair(series.name, workers);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    StepSummary step = nearest;
    step.workers = workers;
    // Every path of a star is the same, whatever their number.
    if (results::scenario_value(series.header.scenario_json, "/network/topology") != "star")
      build(series, step);
    return known_.emplace(key, step).first->second;
  }

 private:
  void build(const ScaleSeries& series, StepSummary& step) {
    if (take_paths_on(series.header.scenario_json, series.header.scenario_file, step.workers, step))
      return;
    if (refused_.insert(series.name).second)
      remarks_.push_back(series.name + ": its topology has no form for " +
                         std::to_string(step.workers) +
                         " workers; beyond the runs the network's figures are the nearest run's");
  }

  std::vector<std::string>& remarks_;
  std::map<std::pair<std::string, int>, StepSummary> known_;
  std::set<std::string> refused_;
};

}  // namespace

/// Throughput is a batch of each worker in each step.
static void check_schedule(const scenarios::Scenario& scenario) {
  const scenarios::ScheduleChoice& schedule = scenario.schedule;
  if (scenario.workload.kind != scenarios::WorkloadKind::kTraining) return;
  if (schedule.kind == "lockstep" && schedule.local_steps == 1) return;
  throw Error(ErrorKind::kScenario, "report the scalability of", scenario.name,
              schedule.kind == "lockstep"
                  ? "a step of several local steps has no closed form"
                  : "a step of schedule " + schedule.kind +
                        " is a round or an update, not a batch of each worker",
              "use schedule lockstep with one local step; gradwire report compares the others by "
              "their time to the target");
}

scenarios::ScenarioFile scenario_on(const std::string& path, const scenarios::Overrides& overrides,
                                    std::span<const int> workers) {
  scenarios::ScenarioFile all;
  for (const int n : workers) {
    scenarios::Overrides with = overrides;
    with.push_back({"/cluster/workers", std::to_string(n), "--workers"});
    scenarios::ScenarioFile file = scenarios::read_scenario_file(path, with);
    for (const scenarios::Scenario& scenario : file.runs) check_schedule(scenario);
    if (all.runs.empty()) {
      all = std::move(file);
    } else {
      std::ranges::move(file.runs, std::back_inserter(all.runs));
    }
  }
  return all;
}

std::set<int> worker_counts(const scenarios::ScenarioFile& file) {
  std::set<int> counts;
  for (const scenarios::Scenario& scenario : file.runs) counts.insert(scenario.cluster.workers);
  return counts;
}

std::vector<results::RunId> stored_runs_of(const scenarios::ScenarioFile& file,
                                           const results::Store& store) {
  std::set<std::string> keys;
  for (const scenarios::Scenario& scenario : file.runs)
    keys.insert(results::series_key(scenario.json.dump()));
  std::vector<results::RunId> runs;
  for (const results::RunSummary& run : store.runs())
    if (results::has_ended(run.status) &&
        keys.count(results::series_key(run.header.scenario_json)) > 0)
      runs.push_back(run.id);
  return runs;
}

scenarios::ScenarioFile missing_runs(const scenarios::ScenarioFile& file,
                                     const results::Store& store) {
  scenarios::ScenarioFile missing = file;
  std::erase_if(missing.runs, [&](const scenarios::Scenario& scenario) {
    return store.find_ended(scenario.hash, scenario.seed).has_value();
  });
  return missing;
}

results::StepAt step_at_size(std::vector<std::string>& remarks) {
  const auto sizes = std::make_shared<Sizes>(remarks);
  return [sizes](const ScaleSeries& series, const StepSummary& nearest, int workers) {
    return sizes->at(series, nearest, workers);
  };
}

}  // namespace gradwire::runner
