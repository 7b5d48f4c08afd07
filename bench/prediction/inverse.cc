#include "bench/prediction/inverse.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/temporary_file.h"
#include "base/units.h"
#include "bench/fidelity/case_parts.h"
#include "results/prediction/solve_checked.h"
#include "runner/prediction/answer.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;
using results::SolveFor;

constexpr std::uint32_t kRegimes = 200;  ///< first number of the regimes' draws
constexpr double kBatch = 32;
constexpr std::uint64_t kWantedSeeds = 501, kOtherSeeds = 1001;
constexpr int kOtherSample = 3;    ///< of the product's own, none of whose seeds it shares
constexpr double kAnswerWork = 8;  ///< one answer is judged by one simulation
constexpr int kDigits = 9;
constexpr double kSpare = 0.05;  ///< of the value
constexpr std::array kQuantities = {SolveFor::kBandwidth, SolveFor::kLatency, SolveFor::kWorkers,
                                    SolveFor::kRatio};

/// A ratio is that of messages alone, which only uncompressed ones follow without other costs.
SolveFor quantity_of(const PredictionCase& given, const results::StepSummary& step, int number) {
  const auto turn = static_cast<std::size_t>(number) +
                    static_cast<std::size_t>(number / 3);  // exchanges come by threes
  const SolveFor quantity =
      kQuantities[compressors::is_plain_codec(given.codec) ? 3 - turn % 4 : turn % 3];
  // Hosts and sites that are counted are as many as they are; and of workers that lose packets the
  // answer may be thousands, which take hours.
  const bool counted = step.on_workers && !(*step.on_workers)(step, step.workers + 1);
  const bool hours = given.regime == PredictionRegime::kUnequalLossy;
  return quantity == SolveFor::kWorkers && (counted || hours) ? SolveFor::kBandwidth : quantity;
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

/// Bytes, as it is written there: "8MB", "1234567B".
double bucket_of(const ordered_json& scenario) {
  return static_cast<double>(
      parse_bytes(scenario["exchange"]["bucket"].get<std::string>()).count());
}

/// The case with the answer in it. (A star: two links and one segment's forwarding between
/// workers.)
PredictionCase changed(const PredictionCase& given, const results::StepSummary& step,
                       SolveFor quantity, double value) {
  PredictionCase result = given;
  ordered_json scenario = ordered_json::parse(given.scenario);
  if (quantity == SolveFor::kBandwidth)
    scenario["network"]["link"]["bandwidth"] = with_unit(8 * value, "bps", kDigits);
  if (quantity == SolveFor::kLatency)
    scenario["network"]["link"]["delay"] =
        with_unit(std::max(0.0, (value - step.forwarding_s) / 2 * 1e6), "us", kDigits);
  if (quantity == SolveFor::kRatio) {
    ordered_json table = ordered_json::parse(given.table);
    for (ordered_json& layer : table["layers"])
      layer["elements"] =
          std::max<std::int64_t>(1, std::llround(value * layer["elements"].get<double>()));
    result.table = table.dump();
    // Elements are rounded, and no bucket more may come of it.
    const auto rounded = static_cast<std::int64_t>(4 * table["layers"].size());
    scenario["exchange"]["bucket"] =
        std::to_string(std::llround(value * bucket_of(scenario)) + rounded) + "B";
  }
  result.scenario = scenario.dump();
  return result;
}

/// A question to a case.
struct Question {
  const PredictionCase& given;
  const results::StepPoint& simulated;
  SolveFor quantity;
  results::Target target;

  /// What the product itself simulates.
  results::StepPoint answer(double value, int sample) const {
    const TemporaryFile table(given.table, ".json");
    const scenarios::Scenario scenario = scenario_of(given, table.path(), simulated.step.workers);
    return runner::simulate_answer(scenario, simulated.step, quantity, value, sample);
  }
  /// What a user finds who writes the value into the scenario, or where links differ makes all of
  /// them so many times as good (or the messages, in the same buckets, so many times as large).
  results::StepPoint at(double value, std::uint64_t first_seed) const {
    if (is_unequal(given.regime)) return scaled(value, first_seed);
    const PredictionCase asked = changed(given, simulated.step, quantity, value);
    const TemporaryFile table(asked.table, ".json");
    const int workers =
        quantity == SolveFor::kWorkers ? static_cast<int>(value) : simulated.step.workers;
    return simulate_step(asked, table.path(), workers, first_seed, {}, kAnswerWork);
  }

 private:
  results::StepPoint scaled(double value, std::uint64_t first_seed) const {
    const results::StepSummary& step = simulated.step;
    if (quantity == SolveFor::kWorkers) return answer(value, kOtherSample);
    const TemporaryFile table(given.table, ".json");
    return simulate_step(given, table.path(), step.workers, first_seed,
                         runner::changes_of(step, quantity, value), kAnswerWork);
  }
};

/// So many workers, or the next number that the network can have.
double possible_near(const results::StepSummary& step, double workers) {
  if (!step.on_workers) return workers;
  const auto possible = [&](double n) {
    return n >= 2 && (*step.on_workers)(step, static_cast<int>(n));
  };
  for (int off = 0; off < static_cast<int>(workers); ++off)
    for (const double n : {workers + off, workers - off})
      if (possible(n)) return n;
  return step.workers;
}

double next_possible(const results::StepSummary& step, double workers) {
  double next = workers + 1;
  while (step.on_workers && !(*step.on_workers)(step, static_cast<int>(next))) ++next;
  return next;
}

/// A share of what one worker alone does, as a user would say it: what flow reaches somewhere at
/// half to twice what the case has.
Question question_of(const PredictionCase& given, const results::StepFit& fit,
                     const results::StepPoint& simulated, std::uint64_t seed, int case_number) {
  Draws draws(seed, kRegimes + static_cast<std::uint32_t>(given.regime), case_number);
  Question question{given, simulated, quantity_of(given, simulated.step, case_number), {}};
  const double there = present(simulated.step, question.quantity);
  const double drawn = question.quantity == SolveFor::kRatio ? draws.uniform(0.3, 0.9)
                                                             : there * draws.log_uniform(0.5, 2);
  const double wanted = question.quantity == SolveFor::kWorkers
                            ? possible_near(simulated.step, std::round(drawn))
                            : drawn;
  const results::StepSummary step = results::with(simulated.step, question.quantity, wanted);
  const double reached = question.at(wanted, kWantedSeeds).seconds;
  question.target = {
      results::Target::Kind::kEfficiency,
      results::efficiency(fit, step) * results::predict_step(fit, step).time.total_s / reached};
  return question;
}

/// Flow's step at the value over what is allowed there, less 1.
double error_at(const Question& question, const results::StepFit& fit, double value,
                double seconds) {
  return seconds / results::allowed_seconds(
                       fit, results::with(question.simulated.step, question.quantity, value),
                       question.target, kBatch) -
         1;
}

/// An answer that has time to spare is right where the next one has none: the next possible number
/// of workers, or a value that asks for 5 % less. (Windows make steps of the time, as counts do.)
double miss(const Question& question, const results::StepFit& fit, double value, double error) {
  if (error >= -kSpare) return error;
  const bool fewer = question.quantity == SolveFor::kBandwidth;
  const double next = question.quantity == SolveFor::kWorkers
                          ? next_possible(question.simulated.step, value)
                      : fewer ? value * (1 - kSpare)
                              : value * (1 + kSpare);
  return std::min(0.0, error_at(question, fit, next, question.at(next, kOtherSeeds).seconds));
}

std::string line_of(const Question& question, const results::CheckedSolution& checked,
                    const Inverse& inverse, double chance) {
  char text[300];
  std::snprintf(text, sizeof text,
                "%s: %s of %.4g for an efficiency of %.3f (there: %.4g); flow's step there is "
                "%+.1f %% off (+-%.1f %%); %d simulations, at first %+.1f %%",
                question.simulated.name.c_str(), std::string(name_of(question.quantity)).c_str(),
                *checked.solution.value, question.target.value,
                present(question.simulated.step, question.quantity), 100 * inverse.error,
                100 * chance, checked.simulations, 100 * inverse.unchecked_error);
  return text;
}

}  // namespace

Inverse ask_inverse(const PredictionCase& given, const results::StepFit& fit,
                    const results::StepPoint& simulated, std::uint64_t seed, int case_number) {
  const Question question = question_of(given, fit, simulated, seed, case_number);
  const results::CheckedSolution checked = results::solve_checked(
      fit, simulated.step, question.quantity, question.target, kBatch,
      [&](double value, int sample) { return question.answer(value, sample); });
  const std::optional<double> value = checked.solution.value;
  if (!value)
    throw Error(ErrorKind::kFailure, "solve for", name_of(question.quantity),
                "no value meets a target that one does");
  const results::StepPoint flow = question.at(*value, kOtherSeeds);
  Inverse inverse{given.regime,
                  checked.forward_error,
                  checked.unchecked_error,
                  miss(question, fit, *value, error_at(question, fit, *value, flow.seconds)),
                  {}};
  inverse.line = line_of(question, checked, inverse, flow.relative_error);
  return inverse;
}

}  // namespace gradwire::bench
