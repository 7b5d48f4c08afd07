#include "runner/prediction/mean_step.h"

#include "base/error.h"
#include "results/runs/summary.h"
#include "runner/interrupt.h"

namespace gradwire::runner {
namespace {

constexpr int kManySettledSteps = 5, kManySettledWorkers = 256;
constexpr int kChanceSteps = 25, kManyChanceSteps = 7, kManyChanceWorkers = 16;
constexpr int kLeastSeeds = 3, kMostSeeds = 400;

void add_steps(const StepTimes& simulated, bool settled, std::vector<double>& times) {
  const std::vector<double> warm = simulated.warm();
  const std::size_t first = settled ? warm.size() / 2 : 0;
  times.insert(times.end(), warm.begin() + static_cast<std::ptrdiff_t>(first), warm.end());
}

void set_time(const std::vector<double>& times, results::StepPoint& point) {
  const results::Statistic known = results::statistic(times);
  point.seconds = known.mean;
  point.relative_error = results::relative_error_of(known);
  point.steps = static_cast<int>(times.size());
}

}  // namespace

double work_of(const StepTimes& simulated) {
  constexpr double kPacketsOfATransfer = 10;
  return static_cast<double>(simulated.transfers) +
         static_cast<double>(simulated.packets) / kPacketsOfATransfer;
}

StepSampling sampling_of(const results::StepSummary& step) {
  StepSampling sampling;
  if (!step.is_irregular() && step.compute_spread <= 0) {
    if (step.workers > kManySettledWorkers) sampling.steps = kManySettledSteps;
    return sampling;
  }
  sampling.steps = step.workers <= kManyChanceWorkers ? kChanceSteps : kManyChanceSteps;
  sampling.settled = false;
  sampling.least_seeds = kLeastSeeds;
  sampling.most_seeds = kMostSeeds;
  return sampling;
}

results::StepPoint mean_step(const scenarios::Scenario& scenario, const StepSampling& sampling,
                             const StepChanges& changes) {
  scenarios::Scenario run = scenario;
  run.workload.steps = run.workload.repetitions = sampling.steps;
  results::StepPoint point;
  point.name = scenario.name;
  std::vector<double> times;
  double work = 0;
  for (int seeds = 0; seeds < sampling.most_seeds;) {
    if (interrupted_by() != 0)
      throw Error(interruption(), "simulate steps of", scenario.name, "a stop was asked for");
    run.seed = sampling.first_seed + static_cast<std::uint64_t>(seeds++);
    const StepTimes simulated = time_steps(run, changes);
    if (!simulated.summary)
      throw Error(ErrorKind::kFailure, "summarise", scenario.name,
                  "no closed form describes its exchange");
    point.step = *simulated.summary;
    add_steps(simulated, sampling.settled, times);
    set_time(times, point);
    work += work_of(simulated);
    const bool known = seeds >= sampling.least_seeds && known_to(point) <= sampling.wanted_error;
    if (known || work > sampling.most_work) break;
  }
  return point;
}

}  // namespace gradwire::runner
