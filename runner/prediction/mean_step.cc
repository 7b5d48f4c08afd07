#include "runner/prediction/mean_step.h"

#include "base/error.h"
#include "results/runs/summary.h"
#include "results/statistics/student_t.h"
#include "runner/interrupt.h"

namespace gradwire::runner {
namespace {

constexpr int kManySettledSteps = 5, kManySettledWorkers = 256;
constexpr int kChanceSteps = 25;  ///< windows shrink during the first
constexpr int kLeastSeeds = 3, kMostSeeds = 400;

/// Those of one seed that count.
std::vector<double> counted(const StepTimes& simulated, bool settled) {
  std::vector<double> warm = simulated.warm();
  if (settled) warm.erase(warm.begin(), warm.begin() + std::ssize(warm) / 2);
  return warm;
}

/// Steps of one seed overlap and have their timeouts in common: of several seeds the means tell how
/// well the whole one is known, and few of them tell little (Student's t).
void set_time(std::span<const results::Statistic> seeds, results::StepPoint& point) {
  std::vector<double> means;
  point.steps = 0;
  for (const results::Statistic& seed : seeds) {
    means.push_back(seed.mean);
    point.steps += seed.n;
  }
  const results::Statistic all = results::statistic(means);
  point.seconds = all.mean;
  point.relative_error = seeds.size() < 2
                             ? results::relative_error_of(seeds[0])
                             : results::relative_error_of(all) *
                                   results::student_quantile(0.95, all.n - 1) / results::kNormal90;
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
  sampling.steps = kChanceSteps;
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
  std::vector<results::Statistic> of_seeds;
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
    of_seeds.push_back(results::statistic(counted(simulated, sampling.settled)));
    set_time(of_seeds, point);
    work += work_of(simulated);
    const bool known = seeds >= sampling.least_seeds && known_to(point) <= sampling.wanted_error;
    if (known || work > sampling.most_work) break;
  }
  return point;
}

}  // namespace gradwire::runner
