#include "bench/prediction/inverse.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/temporary_file.h"
#include "bench/fidelity/case_parts.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;
using results::SolveFor;

constexpr std::uint32_t kRegimes = 200;  ///< first number of the regimes' draws
constexpr double kBatch = 32;
constexpr int kDigits = 9;
constexpr std::array kQuantities = {SolveFor::kBandwidth, SolveFor::kLatency, SolveFor::kWorkers,
                                    SolveFor::kRatio};

/// A ratio is that of messages alone, which only uncompressed ones follow without other costs.
SolveFor quantity_of(const PredictionCase& given, int number) {
  const auto turn = static_cast<std::size_t>(number + number / 3);  // exchanges come by threes
  return kQuantities[given.codec == "none" ? 3 - turn % 4 : turn % 3];
}

double present(const results::StepSummary& step, SolveFor quantity) {
  switch (quantity) {
    case SolveFor::kBandwidth:
      return step.bandwidth;
    case SolveFor::kLatency:
      return step.delay_s;
    case SolveFor::kWorkers:
      return step.workers;
    case SolveFor::kRatio:
      return 1;
  }
  return 0;
}

/// The case with the answer in it. (A star: two links and one segment's forwarding between
/// workers.)
PredictionCase changed(const PredictionCase& given, const results::StepSummary& step,
                       SolveFor quantity, double value) {
  PredictionCase result = given;
  ordered_json scenario = ordered_json::parse(given.scenario);
  ordered_json& link = scenario["network"]["link"];
  if (quantity == SolveFor::kBandwidth) link["bandwidth"] = with_unit(8 * value, "bps", kDigits);
  if (quantity == SolveFor::kLatency)
    link["delay"] = with_unit(std::max(0.0, (value - step.forwarding_s) / 2 * 1e6), "us", kDigits);
  if (quantity == SolveFor::kRatio) {
    ordered_json table = ordered_json::parse(given.table);
    for (ordered_json& layer : table["layers"])
      layer["elements"] =
          std::max<std::int64_t>(1, std::llround(value * layer["elements"].get<double>()));
    result.table = table.dump();
    scenario["exchange"]["bucket"] = std::to_string(std::llround(value * 8e6)) + "B";
  }
  result.scenario = scenario.dump();
  return result;
}

}  // namespace

Inverse ask_inverse(const PredictionCase& given, const results::StepFit& fit,
                    const results::StepPoint& simulated, std::uint64_t seed, int case_number) {
  Draws draws(seed, kRegimes + static_cast<std::uint32_t>(given.regime), case_number);
  const SolveFor asked_for = quantity_of(given, case_number);
  const std::string name(name_of(asked_for));
  const double there = present(simulated.step, asked_for);
  const double wanted =
      asked_for == SolveFor::kRatio ? draws.uniform(0.3, 0.9) : there * draws.log_uniform(0.5, 2);
  const results::StepSummary at_wanted = results::with(simulated.step, asked_for, wanted);
  // A share of what one worker alone does, as a user would say it.
  const results::Target target{results::Target::Kind::kEfficiency,
                               results::efficiency(fit, at_wanted)};
  const auto solution = results::solve_step(fit, simulated.step, asked_for, target, kBatch);
  if (!solution.value)
    throw Error(ErrorKind::kFailure, "solve for", name, "no value meets a target that one does");
  const results::StepSummary answer = results::with(simulated.step, asked_for, *solution.value);
  const double allowed = results::allowed_seconds(fit, answer, target, kBatch);
  const PredictionCase asked = changed(given, simulated.step, asked_for, *solution.value);
  const TemporaryFile table(asked.table, ".json");
  const results::StepPoint flow = simulate_step(asked, table.path(), answer.workers);
  Inverse result{given.regime,
                 results::predict_step(fit, answer).time.total_s / allowed - 1,
                 flow.seconds / allowed - 1,
                 {}};
  char text[240];
  std::snprintf(
      text, sizeof text,
      "%s: %s of %.4g for an efficiency of %.3f (there: %.4g); flow's step there is %+.1f %% "
      "off (+-%.1f %%)",
      simulated.name.c_str(), name.c_str(), *solution.value, target.value, there,
      100 * result.error, 100 * flow.relative_error);
  result.line = text;
  return result;
}

}  // namespace gradwire::bench
