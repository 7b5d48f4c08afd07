#include "runner/answer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "results/summary.h"
#include "runner/interrupt.h"
#include "runner/step_times.h"

namespace gradwire::runner {
namespace {

using results::SolveFor;
using scenarios::Scenario;
using scenarios::WorkloadKind;

constexpr int kSteps = 3, kLossySteps = 25, kManyLossySteps = 7;
constexpr int kManyWorkers = 16;
constexpr int kMostSeeds = 400, kLeastSeeds = 3;
constexpr double kWantedError = 0.02;
constexpr double kLongest_s = 5;  ///< of simulating further seeds

bool irregular(const results::StepSummary& step) {
  return step.loss > 0 || step.rate_spread > 0 || step.compute_spread > 0;
}

Scenario with_workers(const Scenario& scenario, double workers) {
  auto json = scenario.json;
  json["cluster"]["workers"] = static_cast<int>(workers);
  return scenarios::read_scenario_text(json.dump(), scenario.file).runs.at(0);
}

StepChanges changes_of(const results::StepSummary& step, SolveFor quantity, double value) {
  StepChanges changes;
  switch (quantity) {
    case SolveFor::kBandwidth:
      changes.rates = value / step.bandwidth;
      break;
    case SolveFor::kLatency:
      changes.delays =
          std::max(0.0, value - step.forwarding_s) / (step.delay_s - step.forwarding_s);
      break;
    case SolveFor::kRatio:
      changes.messages = value;
      break;
    case SolveFor::kWorkers:
      break;
  }
  return changes;
}

int steps_of(const results::StepSummary& step, int workers) {
  if (!irregular(step)) return kSteps;
  return workers <= kManyWorkers ? kLossySteps : kManyLossySteps;
}

}  // namespace

std::string cannot_simulate(const Scenario& scenario, const results::StepSummary& step,
                            SolveFor quantity) {
  if (scenario.workload.kind != WorkloadKind::kProfile &&
      scenario.workload.kind != WorkloadKind::kCollective)
    return "its workload is trained: gradwire run with the answer tells";
  const bool of_links = quantity == SolveFor::kBandwidth || quantity == SolveFor::kLatency;
  if (of_links && step.rate_spread > 0) return "its links follow traces or share a cell";
  if (quantity == SolveFor::kLatency && step.delay_s <= step.forwarding_s)
    return "its links have no delay that could change in proportion";
  return {};
}

results::StepPoint simulate_answer(const Scenario& scenario, const results::StepSummary& step,
                                   SolveFor quantity, double value) {
  GRADWIRE_ASSERT(cannot_simulate(scenario, step, quantity).empty());
  Scenario run = quantity == SolveFor::kWorkers ? with_workers(scenario, value) : scenario;
  run.executor = "flow";
  run.workload.steps = run.workload.repetitions = steps_of(step, run.cluster.workers);
  const StepChanges changes = changes_of(step, quantity, value);
  const auto start = std::chrono::steady_clock::now();
  results::StepPoint point;
  point.name = scenario.name;
  std::vector<double> times;
  for (int seed = 0; seed < kMostSeeds; ++seed, ++run.seed) {
    if (interrupted_by() != 0)
      throw Error(interruption(), "simulate an answer for", scenario.name, "a stop was asked for");
    const StepTimes simulated = time_steps(run, changes);
    if (simulated.summary) point.step = *simulated.summary;
    for (const double time : simulated.warm()) times.push_back(time);
    const results::Statistic known = results::statistic(times);
    point.seconds = known.mean;
    point.relative_error = results::relative_error_of(known);
    point.steps = static_cast<int>(times.size());
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const bool exact = !irregular(step);
    if (exact || spent.count() > kLongest_s ||
        (seed + 1 >= kLeastSeeds && known_to(point) <= kWantedError))
      break;
  }
  return point;
}

}  // namespace gradwire::runner
