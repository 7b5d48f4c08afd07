#include "bench/prediction/prediction.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <optional>

#include "base/error.h"
#include "base/temporary_file.h"
#include "base/thread_team.h"
#include "bench/fidelity/statistics.h"
#include "bench/prediction/inverse.h"
#include "bench/prediction/prediction_cases.h"
#include "runner/prediction/exchange_correction.h"
#include "runner/prediction/prediction.h"

namespace gradwire::bench {
namespace {

constexpr int kFitted[] = {2, 4, 8};
constexpr double kCleanBar = 0.05, kIrregularBar = 0.10, kUnequalBar = 0.03;
constexpr double kMostRefused = 0.05;
constexpr int kAskedWorkers = 32;  ///< of inverse questions

struct HeldOut {
  PredictionRegime regime{};
  std::string exchange;
  int workers = 0;
  double error = 0;  ///< predicted / simulated - 1
  bool inside = false;
  double deviations = 0;  ///< |log error| over the band's own standard deviation
  std::string line;
};

std::string line_of(const results::StepPoint& simulated, const results::StepPrediction& prediction,
                    const HeldOut& point) {
  char text[240];
  std::snprintf(text, sizeof text,
                "%s: simulated %.4g s (+-%.1f %%), predicted %.4g (%.4g-%.4g) %+.1f %%%s",
                simulated.name.c_str(), simulated.seconds, 100 * simulated.relative_error,
                prediction.time.total_s, prediction.model_low_s, prediction.model_high_s,
                100 * point.error, point.inside ? "" : " outside");
  return text;
}

/// Of a normal law, 90 % of which the band holds.
double deviations_of(const results::StepPoint& simulated,
                     const results::StepPrediction& prediction) {
  const double half = std::log(prediction.model_high_s / prediction.model_low_s) / 2;
  return half > 0 ? results::kNormal90 *
                        std::abs(std::log(simulated.seconds / prediction.time.total_s)) / half
                  : 0;
}

/// Packet by packet, more workers take too long.
std::vector<int> held_out_of(const PredictionCase& given, const PredictionOptions& options) {
  if (is_unequal(given.regime)) return {given.workers};
  return given.regime == PredictionRegime::kPacket ? std::vector<int>{16} : options.held_out;
}

/// At how many workers an inverse question is put; 0: to this case none is. Where links differ an
/// answer is simulated packet by packet, a minute or more, so that every third case has one.
int asked_of(const PredictionCase& given, int number) {
  if (!is_unequal(given.regime)) return kAskedWorkers;
  return number % 3 == 0 ? given.workers : 0;
}

/// What one case has shown.
struct Shown {
  std::vector<HeldOut> held;
  std::optional<Inverse> inverse;
  std::string refused;  ///< why the closed forms have no answer
};

/// As `predict` sums the step up, with what it knows of other numbers of workers; empty, with the
/// reason, where it does not.
std::optional<results::StepSummary> summed_up(const PredictionCase& given, const std::string& table,
                                              int workers, std::string& refused) {
  try {
    const scenarios::Scenario scenario = scenario_of(given, table, workers);
    results::StepSummary step = runner::summary_of(scenario, nullptr, {});
    runner::correct_by_simulation(scenario, step);
    return step;
  } catch (const Error& error) {
    refused = given.name + ": " + error.what();
    return std::nullopt;
  }
}

Shown hold_out(const PredictionCase& given, const PredictionOptions& options, int number) {
  const TemporaryFile table(given.table, ".json");
  const std::vector<int> held = held_out_of(given, options);
  Shown shown;
  std::optional<results::StepSummary> summary;
  if (is_unequal(given.regime)) {
    summary = summed_up(given, table.path(), held[0], shown.refused);
    if (!summary) return shown;
  }
  const bool corrected = summary && summary->correction_error;  // as predict does
  std::vector<results::StepPoint> points;
  for (const int n : kFitted)
    if (n < held[0] && !corrected) points.push_back(simulate_step(given, table.path(), n));
  const results::StepFit fit = corrected ? results::usual_fit() : results::fit_steps(points);
  for (const int n : held) {
    results::StepPoint simulated = simulate_step(given, table.path(), n);
    if (corrected) simulated.step = *summary;
    if (summary) simulated.step.on_workers = summary->on_workers;
    const auto prediction = results::predict_step(fit, simulated.step);
    HeldOut point{
        given.regime,
        given.exchange,
        n,
        prediction.time.total_s / simulated.seconds - 1,
        simulated.seconds >= prediction.model_low_s && simulated.seconds <= prediction.model_high_s,
        deviations_of(simulated, prediction),
        {}};
    point.line = line_of(simulated, prediction, point);
    shown.held.push_back(std::move(point));
    // A trace's links have no bandwidth to ask for.
    if (n == asked_of(given, number) && given.regime != PredictionRegime::kMobile)
      shown.inverse = ask_inverse(given, fit, simulated, options.seed, number);
  }
  return shown;
}

/// Cases two at a time, results in their order.
std::vector<Shown> hold_out_all(const std::vector<PredictionCase>& cases,
                                const PredictionOptions& options) {
  std::vector<Shown> by_case(cases.size());
  ThreadTeam(2).run(cases.size(), [&](std::size_t i) {
    by_case[i] = hold_out(cases[i], options, static_cast<int>(i));
  });
  return by_case;
}

double bar_of(PredictionRegime regime) {
  if (regime == PredictionRegime::kUnequal) return kUnequalBar;
  return is_exact(regime) ? kCleanBar : kIrregularBar;
}

double median_error(const std::vector<HeldOut>& points) {
  std::vector<double> errors;
  for (const HeldOut& point : points) errors.push_back(std::abs(point.error));
  return median_of(std::move(errors));
}

double coverage(const std::vector<HeldOut>& points) {
  double inside = 0;
  for (const HeldOut& point : points) inside += point.inside;
  return inside / static_cast<double>(points.size());
}

/// What an error is a share of: nothing here is measured on a cluster.
std::string share_of(PredictionRegime regime) {
  return regime == PredictionRegime::kPacket ? "of packet's (ns-3) step" : "of flow's step";
}

void add_regime_rows(PredictionRegime regime, const std::vector<HeldOut>& points,
                     std::vector<BenchRow>& rows) {
  const std::string name = "prediction." + std::string(name_of(regime)) + ".";
  const double bar = bar_of(regime);
  std::map<std::string, std::vector<HeldOut>> by_exchange;
  for (const HeldOut& point : points) by_exchange[point.exchange].push_back(point);
  // Where links differ, a collective's few cases are on networks that have nothing in common.
  const bool together = is_unequal(regime);
  for (const auto& [exchange, its] : by_exchange)
    rows.push_back({.name = name + exchange + ".median_error",
                    .value = median_error(its),
                    .unit = share_of(regime),
                    .bar = together ? std::nullopt : std::optional(bar)});
  if (together)
    rows.push_back({.name = name + "median_error",
                    .value = median_error(points),
                    .unit = share_of(regime),
                    .bar = bar});
  double worst = 0;
  int most = 0;
  for (const HeldOut& point : points) {
    worst = std::max(worst, std::abs(point.error));
    most = std::max(most, point.workers);
  }
  rows.push_back({.name = name + "worst_error", .value = worst, .unit = share_of(regime)});
  rows.push_back({.name = name + "beyond_data",
                  .value = static_cast<double>(most) / *std::rbegin(kFitted),
                  .unit = "times the most fitted workers"});
  rows.push_back(
      {.name = name + "band_coverage", .value = coverage(points), .unit = "of the points"});
}

/// Whether answers to inverse questions hold where flow is run as they say.
void add_inverse_rows(PredictionRegime regime, const std::vector<Shown>& cases,
                      std::vector<BenchRow>& rows) {
  std::vector<double> errors, forward, model;
  for (const Shown& shown : cases) {
    if (!shown.inverse) continue;
    errors.push_back(std::abs(shown.inverse->error));
    model.push_back(std::abs(shown.inverse->unchecked_error));
    // Whole workers meet a target with something to spare.
    forward.push_back(std::max(0.0, shown.inverse->forward_error));
  }
  if (errors.empty()) return;
  const std::string name = "prediction." + std::string(name_of(regime)) + ".solve.";
  const double bar = is_exact(regime) ? kCleanBar : kIrregularBar;
  const auto worst = [](const std::vector<double>& of) {
    return *std::max_element(of.begin(), of.end());
  };
  rows.push_back(
      {.name = name + "answers", .value = static_cast<double>(errors.size()), .unit = "answers"});
  const std::string unit = share_of(regime);
  rows.push_back({.name = name + "worst_error", .value = worst(errors), .unit = unit, .bar = bar});
  rows.push_back({.name = name + "median_error", .value = median_of(errors), .unit = unit});
  // As the model alone answers, without a simulation.
  rows.push_back({.name = name + "unchecked.worst_error", .value = worst(model), .unit = unit});
  rows.push_back(
      {.name = name + "unchecked.median_error", .value = median_of(model), .unit = unit});
  rows.push_back({.name = name + "forward_worst_miss",
                  .value = worst(forward),
                  .unit = "of the target's step",
                  .bar = 0.001});
}

/// Empty, with the reason said, where the regime's executor is not built.
std::vector<Shown> shown_cases(PredictionRegime regime, int count, const PredictionOptions& options,
                               const Say& say) {
  if (count == 0) return {};
  say("simulating " + std::to_string(count) + " " + std::string(name_of(regime)) + " cases");
  std::vector<Shown> cases;
  try {
    cases = hold_out_all(prediction_cases(options.seed, regime, count), options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCapability) throw;
    say(std::string("left out: ") + error.what());
  }
  for (const Shown& shown : cases)
    if (!shown.refused.empty()) say("no band: " + shown.refused);
  if (!options.list) return cases;
  for (const Shown& shown : cases)
    for (const HeldOut& point : shown.held) say(point.line);
  for (const Shown& shown : cases)
    if (shown.inverse) say(shown.inverse->line);
  return cases;
}

/// How many times as wide the bands are as a normal law's with the points' mean error. Of some 25
/// cases a right band holds every point once in ten seeds, so that a share inside cannot tell it
/// from one that is too wide; the errors' mean size can.
double width(const std::vector<HeldOut>& points) {
  double sum = 0;
  for (const HeldOut& point : points) sum += point.deviations;
  const double normal_mean = std::sqrt(2 / std::numbers::pi);
  return normal_mean * static_cast<double>(points.size()) / sum;
}

void add_band_rows(const std::string& name, const std::vector<HeldOut>& points,
                   std::vector<BenchRow>& rows) {
  rows.push_back({.name = name + "held_out_points",
                  .value = static_cast<double>(points.size()),
                  .unit = "points"});
  if (points.empty()) return;
  rows.push_back({.name = name + "band_coverage",
                  .value = coverage(points),
                  .unit = "of the points",
                  .bar = 0.85,
                  .at_most = false});
}

void add_width_row(const std::string& name, const std::vector<HeldOut>& points,
                   std::vector<BenchRow>& rows) {
  if (points.empty()) return;
  rows.push_back({.name = name + "band_width",
                  .value = width(points),
                  .unit = "times what their errors call for",
                  .bar = 2});
}

/// Where steps are exact, the band holds what rounding leaves and every point lies inside for
/// certain: only points whose steps differ can show a band that is too wide.
void add_equal_bands(const std::vector<HeldOut>& points, std::vector<BenchRow>& rows) {
  add_band_rows("prediction.", points, rows);
  std::vector<HeldOut> irregular;
  for (const HeldOut& point : points)
    if (!is_exact(point.regime)) irregular.push_back(point);
  if (irregular.empty()) return;
  rows.push_back({.name = "prediction.band_coverage.irregular",
                  .value = coverage(irregular),
                  .unit = "of lossy and mobile points"});
  add_width_row("prediction.", irregular, rows);
}

/// `asked`: cases, those that the closed forms refuse among them.
void add_unequal_bands(const std::vector<HeldOut>& points, int asked, std::vector<BenchRow>& rows) {
  if (asked == 0) return;
  const std::string name = "prediction.unequal.";
  add_band_rows(name, points, rows);
  add_width_row(name, points, rows);
  rows.push_back({.name = name + "no_band",
                  .value = 1 - static_cast<double>(points.size()) / asked,
                  .unit = "of the cases",
                  .bar = kMostRefused});
}

}  // namespace

std::vector<BenchRow> bench_prediction(const PredictionOptions& options, const Say& say) {
  std::vector<BenchRow> rows;
  std::vector<HeldOut> equal, unequal;
  const std::pair<PredictionRegime, int> regimes[] = {
      {PredictionRegime::kClean, options.clean_cases},
      {PredictionRegime::kLossy, options.lossy_cases},
      {PredictionRegime::kMobile, options.mobile_cases},
      {PredictionRegime::kPacket, options.packet_cases},
      {PredictionRegime::kUnequal, (options.unequal_cases + 1) / 2},
      {PredictionRegime::kUnequalLossy, options.unequal_cases / 2}};
  for (const auto& [regime, count] : regimes) {
    const auto cases = shown_cases(regime, count, options, say);
    std::vector<HeldOut> points;
    for (const Shown& shown : cases)
      points.insert(points.end(), shown.held.begin(), shown.held.end());
    if (points.empty()) continue;
    add_regime_rows(regime, points, rows);
    add_inverse_rows(regime, cases, rows);
    std::vector<HeldOut>& all = is_unequal(regime) ? unequal : equal;
    all.insert(all.end(), points.begin(), points.end());
  }
  add_equal_bands(equal, rows);
  add_unequal_bands(unequal, options.unequal_cases, rows);
  return labelled(std::move(rows), "predicted");
}

}  // namespace gradwire::bench
