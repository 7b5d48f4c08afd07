#include "runner/prediction/exchange_correction.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/prediction/step_model.h"
#include "runner/prediction/mean_step.h"

namespace gradwire::runner {
namespace {

using nlohmann::ordered_json;
using results::ExchangeKind;
using results::StepSummary;

constexpr double kSizes[] = {1e5, 4e6, 2.5e7, 1e8};  ///< bytes of a message
constexpr int kRepetitions = 3, kIrregularRepetitions = 9;
constexpr int kSettled = 15, kLeastSettled = 4;
constexpr double kMostSettledWork = 4e6;
constexpr int kLeastSeeds = 8, kMostSeeds = 100, kLeastSteps = 4, kMostSteps = 20;
constexpr double kWantedError = 0.03, kMostWork = 1e6, kTooMuchWork = 4e6;
constexpr std::uint64_t kFirstSeed = 7001;  ///< no run's: what they show stays news
constexpr double kMostFactor = 1e4;
/// Deviation of what exchanges alone leave out of a step: who waits for whom between them.
constexpr double kAlone = 0.04, kAloneLossy = 0.06;
constexpr int kHalvings = 60;

scenarios::Scenario lone_exchange(const scenarios::Scenario& scenario, const StepSummary& step,
                                  ExchangeKind kind, double bytes) {
  const auto count = std::max<std::int64_t>(1, std::llround(bytes));
  ordered_json json = {
      {"schema_version", 1},
      {"name", "exchange"},
      {"workload",
       {{"collective", name_of(kind)},
        {"bytes", std::to_string(count) + "B"},
        {"repetitions", step.is_irregular() ? kIrregularRepetitions : kRepetitions}}},
      {"cluster", {{"workers", step.workers}}},
      {"executor", "flow"},
      {"seeds", {scenario.seed}}};
  if (scenario.json.contains("network")) json["network"] = scenario.json["network"];
  if (kind != ExchangeKind::kParameterServer && json.contains("network"))
    json["network"].erase("server_link");
  if (kind == ExchangeKind::kTwoLevel) json["workload"]["group"] = step.group;
  return scenarios::read_scenario_text(json.dump(), scenario.file).runs.at(0);
}

/// A factor, and its relative standard error.
struct Factor {
  double value = 1, error = 0;
};

/// Simulated over closed form.
Factor factor_at(const scenarios::Scenario& scenario, const StepSummary& step, ExchangeKind kind,
                 double bytes, const StepSampling& sampling) {
  const results::StepPoint lone = mean_step(lone_exchange(scenario, step, kind, bytes), sampling);
  StepSummary plain = lone.step;
  plain.correction = {};  // which this one replaces
  return {lone.seconds / results::exchange_time(plain, bytes, results::usual_constants()),
          lone.relative_error};
}

Factor factor_at(const scenarios::Scenario& scenario, const StepSummary& step, double bytes,
                 const StepSampling& sampling) {
  if (step.exchange != ExchangeKind::kScatterReduce)
    return factor_at(scenario, step, step.exchange, bytes, sampling);
  // Half of its bytes go each way, in chunks.
  const double chunk = bytes / step.workers;
  const Factor there = factor_at(scenario, step, ExchangeKind::kDirectAllGather, chunk, sampling);
  const Factor round = factor_at(scenario, step, ExchangeKind::kRingAllGather, chunk, sampling);
  return {(there.value + round.value) / 2, std::hypot(there.error, round.error) / 2};
}

/// As far as it goes, the same for messages of all sizes.
void correct_all(double factor, StepSummary& step) {
  step.correction = step.prelude_correction = {};
  step.correction.add(1, factor);
  step.prelude_correction.add(1, factor);
}

/// Connections are warm from the second exchange on.
StepSampling few_exchanges(const StepSummary& step) {
  StepSampling sampling;
  sampling.steps = step.is_irregular() ? kIrregularRepetitions : kRepetitions;
  sampling.settled = false;
  return sampling;
}

/// Windows open during the first steps, and the later ones are alike. Under loss the steps of one
/// seed overlap and have their timeouts in common: several seeds say what they take, each of so
/// many that the end of the last one counts little. Empty: that would take minutes.
std::optional<StepSampling> sampling_within(const StepSummary& step) {
  StepTimes one;
  one.packets = std::llround(results::messages_sent(step.exchange, step.workers) *
                             step.message_bytes() / step.segment_bytes);
  const auto steps_within = [&](double work, double least, double most) {
    return static_cast<int>(std::clamp(work / (1 + work_of(one)), least, most));
  };
  StepSampling sampling;
  sampling.first_seed = kFirstSeed;
  if (step.loss <= 0 && step.compute_spread <= 0) {
    sampling.steps = steps_within(kMostSettledWork, kLeastSettled, kSettled);
    return sampling;
  }
  if (kLeastSteps * work_of(one) > kTooMuchWork) return std::nullopt;
  sampling.settled = false;
  sampling.steps = steps_within(kMostWork / kLeastSeeds, kLeastSteps, kMostSteps);
  sampling.least_seeds = kLeastSeeds;
  sampling.most_seeds = kMostSeeds;
  sampling.wanted_error = kWantedError;
  sampling.most_work = kMostWork;
  return sampling;
}

/// Of all exchanges, so that the whole step takes `seconds`; as near as any is, where compute hides
/// them.
double factor_for(double seconds, StepSummary step) {
  double low = 1 / kMostFactor, high = kMostFactor;
  for (int i = 0; i < kHalvings; ++i) {
    const double factor = std::sqrt(low * high);
    correct_all(factor, step);
    const double total = results::step_time(step, results::usual_constants()).total_s;
    (total < seconds ? low : high) = factor;
  }
  return high;
}

/// The step itself on `flow`.
void correct_by_steps(const scenarios::Scenario& scenario, const StepSampling& sampling,
                      StepSummary& step) {
  scenarios::Scenario run = scenario;
  run.executor = "flow";
  const results::StepPoint point = mean_step(run, sampling);
  correct_all(factor_for(point.seconds, step), step);
  step.correction_error = point.relative_error;
}

/// Its smallest and largest message, and what goes before them, exchanged alone.
void correct_by_exchanges(const scenarios::Scenario& scenario, const StepSampling& sampling,
                          StepSummary& step) {
  double error = step.loss > 0 ? kAloneLossy : kAlone;
  const auto correct = [&](ExchangeKind kind, double results::BucketSummary::*size,
                           results::Correction& correction) {
    StepSummary exchanged = step;
    exchanged.exchange = kind;
    correction = {};
    const auto [least, most] = std::ranges::minmax(step.buckets, {}, size);
    for (const double bytes : {least.*size, most.*size}) {
      if (bytes <= 0 || correction.knows(bytes)) continue;
      const Factor factor = factor_at(scenario, exchanged, bytes, sampling);
      correction.add(bytes, factor.value);
      error = std::hypot(error, factor.error);
    }
  };
  correct(results::second_kind(step.exchange), &results::BucketSummary::prelude_bytes,
          step.prelude_correction);
  correct(step.exchange, &results::BucketSummary::message_bytes, step.correction);
  step.correction_error = error;
}

}  // namespace

results::Correction simulated_correction(const scenarios::Scenario& scenario,
                                         const StepSummary& step) {
  results::Correction correction;
  for (const double size : kSizes)
    correction.add(size, factor_at(scenario, step, size, few_exchanges(step)).value);
  return correction;
}

void correct_by_simulation(const scenarios::Scenario& scenario, StepSummary& step) {
  if (step.rate_spread > 0 || step.paths_of(step.exchange) == nullptr) return;
  const bool trains = scenario.workload.kind == scenarios::WorkloadKind::kTraining;
  if (const auto sampling = sampling_within(step))
    (trains ? correct_by_exchanges : correct_by_steps)(scenario, *sampling, step);
}

}  // namespace gradwire::runner
