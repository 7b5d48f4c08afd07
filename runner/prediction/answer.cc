#include "runner/prediction/answer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "runner/prediction/mean_step.h"

namespace gradwire::runner {
namespace {

using results::SolveFor;
using scenarios::Scenario;
using scenarios::WorkloadKind;

Scenario with_workers(const Scenario& scenario, double workers) {
  auto json = scenario.json;
  json["cluster"]["workers"] = static_cast<int>(workers);
  return scenarios::read_scenario_text(json.dump(), scenario.file).runs.at(0);
}

}  // namespace

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

Scenario search_start(const Scenario& scenario, SolveFor quantity) {
  if (scenario.cluster.workers > 1) return scenario;
  if (quantity == SolveFor::kWorkers) return with_workers(scenario, 2);
  throw Error(ErrorKind::kUsage, "solve for", name_of(quantity),
              "one worker sends nothing, so it changes nothing",
              "ask for two workers or more: --set /cluster/workers=2");
}

std::string cannot_simulate(const Scenario& scenario, const results::StepSummary& step,
                            SolveFor quantity) {
  if (scenario.workload.kind != WorkloadKind::kProfile &&
      scenario.workload.kind != WorkloadKind::kCollective)
    return "its workload is trained: gradwire run with the answer tells";
  const bool of_links = quantity == SolveFor::kBandwidth || quantity == SolveFor::kLatency;
  if (of_links && step.rate_spread > 0) return "the rates of its links follow schedules";
  if (quantity == SolveFor::kLatency && step.delay_s <= step.forwarding_s)
    return "its links have no delay that could change in proportion";
  return {};
}

std::string too_long_to_simulate(const results::StepSummary& step) {
  constexpr double kMost = 3e8;  // microseconds of one core, about
  StepTimes expected;
  for (const results::BucketSummary& bucket : step.buckets) {
    const results::ExchangeKind kind = step.exchange_of(bucket);
    expected.transfers += std::llround(results::transfers_sent(kind, step.workers, step.group));
    // Packets are followed where losses or changing rates decide.
    if (step.is_irregular())
      expected.packets += std::llround(results::messages_sent(kind, step.workers) *
                                       bucket.message_bytes / step.segment_bytes);
  }
  const StepSampling sampling = sampling_of(step);
  const double work = work_of(expected) * sampling.steps * sampling.least_seeds;
  if (work <= kMost) return {};
  char text[120];
  std::snprintf(text, sizeof text, "steps of %d workers would take some %.2g hours to simulate",
                step.workers, work / 3.6e9);
  return text;
}

results::StepPoint simulate_answer(const Scenario& scenario, const results::StepSummary& step,
                                   SolveFor quantity, double value, int sample) {
  GRADWIRE_ASSERT(cannot_simulate(scenario, step, quantity).empty());
  Scenario run = quantity == SolveFor::kWorkers ? with_workers(scenario, value) : scenario;
  run.executor = "flow";
  StepSampling sampling = sampling_of(results::with(step, quantity, value));
  sampling.first_seed = scenario.seed + static_cast<std::uint64_t>(sample * sampling.most_seeds);
  return mean_step(run, sampling, changes_of(step, quantity, value));
}

}  // namespace gradwire::runner
