#include "runner/prediction/exchange_correction.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "results/prediction/step_model.h"
#include "runner/prediction/step_times.h"

namespace gradwire::runner {
namespace {

using nlohmann::ordered_json;
using results::ExchangeKind;
using results::StepSummary;

constexpr double kSizes[] = {1e5, 4e6, 2.5e7, 1e8};  ///< bytes of a message
constexpr int kRepetitions = 3, kIrregularRepetitions = 9;

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

/// Simulated over closed form.
double factor_at(const scenarios::Scenario& scenario, const StepSummary& step, ExchangeKind kind,
                 double bytes) {
  const StepTimes times = time_steps(lone_exchange(scenario, step, kind, bytes));
  const std::vector<double> warm = times.warm();
  const double sum = std::accumulate(warm.begin(), warm.end(), 0.0);
  StepSummary plain = *times.summary;
  plain.correction = {};  // which this one replaces
  return sum / static_cast<double>(warm.size()) /
         results::exchange_time(plain, bytes, results::usual_constants());
}

double factor_at(const scenarios::Scenario& scenario, const StepSummary& step, double bytes) {
  if (step.exchange != ExchangeKind::kScatterReduce)
    return factor_at(scenario, step, step.exchange, bytes);
  // Half of its bytes go each way, in chunks.
  const double chunk = bytes / step.workers;
  return (factor_at(scenario, step, ExchangeKind::kDirectAllGather, chunk) +
          factor_at(scenario, step, ExchangeKind::kRingAllGather, chunk)) /
         2;
}

}  // namespace

results::Correction simulated_correction(const scenarios::Scenario& scenario,
                                         const StepSummary& step) {
  results::Correction correction;
  for (const double size : kSizes) correction.add(size, factor_at(scenario, step, size));
  return correction;
}

}  // namespace gradwire::runner
