#include "results/reproductions/reproduction_checks.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "results/runs/fields.h"
#include "results/runs/figure_origin.h"
#include "results/runs/summary.h"

namespace gradwire::results {
namespace {

using nlohmann::ordered_json;

using BySeed = std::map<std::string, double>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Whether a value of a scenario is what that text says: 0 is 0.0.
bool is(const ordered_json& value, const std::string& text) {
  if (value.is_string()) return value.get<std::string>() == text;
  if (value.dump() == text) return true;
  return value.is_number() && ordered_json::parse(text, nullptr, false) == value;
}

/// Which runs a figure is of.
struct Chosen {
  std::string method;  ///< empty: any
  ordered_json where;  ///< by pointer into the scenario: the value there, as text

  bool operator()(const RunSummary& run) const {
    if (!method.empty() && run.header.method != method) return false;
    if (where.empty()) return true;
    const auto scenario = ordered_json::parse(run.header.scenario_json);
    for (const auto& [pointer, text] : where.items()) {
      const ordered_json::json_pointer at(pointer);
      const ordered_json value = scenario.contains(at) ? scenario.at(at) : ordered_json();
      if (!is(value, text.get<std::string>())) return false;
    }
    return true;
  }
  /// "none [local_steps=25 steps=16]"
  std::string text() const {
    std::string places;
    for (const auto& [pointer, value] : where.items())
      places += (places.empty() ? "" : " ") + pointer.substr(pointer.rfind('/') + 1) + "=" +
                value.get<std::string>();
    if (places.empty()) return method;
    return method + (method.empty() ? "[" : " [") + places + "]";
  }
};

/// A figure of a run that has ended; nothing where it has none.
using FigureOfRun = std::function<std::optional<double>(const RunSummary&)>;

/// The figure of each seed. `metric` names it where it is missing.
BySeed values_by_seed(std::span<const RunSummary> runs, const Chosen& chosen,
                      const std::string& metric, const FigureOfRun& figure_of) {
  BySeed figures;
  std::set<std::string> known;
  bool any = false;
  for (const RunSummary& run : runs) {
    known.insert(run.header.method);
    if (!has_ended(run.status) || !chosen(run)) continue;
    any = true;
    const bool diverged = run.status == RunStatus::kDiverged;
    const auto figure = diverged ? kNone : figure_of(run);
    if (!figure) continue;
    const std::string seed = std::to_string(run.header.seed);
    const double value = *figure;
    if (!figures.emplace(seed, value).second)
      throw Error(ErrorKind::kScenario, "check " + metric + " of", chosen.text(),
                  "there is more than one run of seed " + seed, "say which with `where`");
  }
  if (any && figures.empty())
    throw Error(ErrorKind::kScenario, "check " + metric + " of", chosen.text(),
                "its runs have no such figure");
  if (figures.empty()) {
    std::string names;
    for (const std::string& each : known) names += (names.empty() ? "" : ", ") + each;
    throw Error(ErrorKind::kScenario, "check " + metric + " of", chosen.text(),
                "no finished run is of it; their methods are: " + names);
  }
  return figures;
}

/// What checks may look up in the store.
struct LookUps {
  const TimeToAccuracy& time_to_accuracy;
  const FigureOfWorkload& of_workload;
};

FigureOfRun stored_figure(const std::string& metric, const FigureOfWorkload& of_workload = {}) {
  const Field* const field = find_field(metric);
  if (field == nullptr && of_workload)
    return [metric, &of_workload](const RunSummary& run) { return of_workload(run.id, metric); };
  GRADWIRE_ASSERT(field != nullptr && field->numeric());  // the scenario's table names such alone
  if (metric != "time_to_target_s") return field->number;
  // Who never is as accurate keeps no bound on when.
  return [field](const RunSummary& run) -> std::optional<double> {
    return field->number(run).value_or(kNone);
  };
}

/// With `target_of`: when the run was as accurate as that one ended, less `target_less`; NaN where
/// it never was.
FigureOfRun figure_of_check(const ordered_json& check, std::span<const RunSummary> runs,
                            const LookUps& look_up) {
  const std::string metric = check.at("metric");
  const TimeToAccuracy& time_to_accuracy = look_up.time_to_accuracy;
  const auto nothing = ordered_json::object();
  const Chosen of{check.value("target_of", ""), check.value("target_where", nothing)};
  if (of.method.empty() && of.where.empty()) return stored_figure(metric, look_up.of_workload);
  if (metric != "time_to_target_s" || !time_to_accuracy)
    throw Error(ErrorKind::kScenario, "check " + metric + " with the target of", of.text(),
                "a target goes with time_to_target_s alone");
  const BySeed ends = values_by_seed(runs, of, "final_accuracy", stored_figure("final_accuracy"));
  return [ends, &time_to_accuracy, less = check.value("target_less", kUsualTargetLess)](
             const RunSummary& run) -> std::optional<double> {
    const auto end = ends.find(std::to_string(run.header.seed));
    if (end == ends.end()) return std::nullopt;
    return time_to_accuracy(run.id, end->second - less).value_or(kNone);
  };
}

/// Less, or over, the other's of the same seed.
BySeed compared(const BySeed& own, const BySeed& other, bool ratio) {
  BySeed result;
  for (const auto& [seed, value] : own) {
    const auto found = other.find(seed);
    if (found == other.end()) continue;
    result[seed] = ratio ? value / found->second : value - found->second;
  }
  return result;
}

/// A seed that diverged is not left out: without a mean no mark is met.
void take_statistics(const BySeed& figures, ReproductionRow& row) {
  std::vector<double> values;
  for (const auto& [seed, value] : figures) values.push_back(value);
  const Statistic all = statistic(values);
  row.seeds = static_cast<int>(values.size());
  row.value = all.n == row.seeds ? all.mean : std::numeric_limits<double>::quiet_NaN();
  if (row.seeds >= 2) row.spread = all.n == row.seeds ? all.spread : row.value;
}

/// Of a figure in a run by that executor.
std::string provenance_of_figure(const std::string& metric, const std::string& executor) {
  const std::optional<Origin> origin = origin_of(metric);
  GRADWIRE_ASSERT(origin.has_value());
  switch (*origin) {
    case Origin::kTime:
      return std::string(name_of(executor == "model"      ? Provenance::kPredicted
                                 : executor == "emulator" ? Provenance::kEmulated
                                                          : Provenance::kSimulated));
    case Origin::kGiven:
      return std::string(name_of(Provenance::kGiven));
    default:
      return std::string(in_words(*origin));
  }
}

ReproductionRow row_of(const std::string& name, const ordered_json& check,
                       std::span<const RunSummary> runs, const LookUps& look_up) {
  const auto nothing = ordered_json::object();
  const std::string metric = check.at("metric");
  const Chosen own{check.value("method", ""), check.value("where", nothing)};
  const Chosen other{check.value("against", ""), check.value("against_where", nothing)};
  const bool compares = !other.method.empty() || !other.where.empty();
  const bool ratio = check.value("compare", "difference") == "ratio";
  const FigureOfRun figure_of = figure_of_check(check, runs, look_up);
  BySeed figures = values_by_seed(runs, own, metric, figure_of);
  if (compares) figures = compared(figures, values_by_seed(runs, other, metric, figure_of), ratio);
  if (figures.empty())
    throw Error(ErrorKind::kScenario, "compare " + own.text() + " with", other.text(),
                "they have no seed in common");
  ReproductionRow row;
  row.name = name + "." + metric;
  if (compares) row.name += ratio ? ".ratio" : ".difference";
  row.method = own.text() + (compares ? (ratio ? " / " : " - ") + other.text() : "");
  row.claim = check.value("claim", "");
  row.provenance = provenance_of_figure(metric, runs.front().header.executor);
  row.negative_control = check.value("negative_control", false);
  PassMark mark;
  if (check.contains("min")) mark.least = check["min"].get<double>();
  if (check.contains("max")) mark.most = check["max"].get<double>();
  if (mark.least && mark.most && *mark.least > *mark.most)
    throw Error(ErrorKind::kScenario, "check " + metric + " of", own.text(),
                "min is above max: nothing could be in between");
  if (mark.least || mark.most) row.pass_mark = mark;
  take_statistics(figures, row);
  return row;
}

/// Without a place or a comparison a bound is on each run of the method: a row for each of those
/// that differ in more than the seed.
std::vector<ReproductionRow> rows_of(const std::string& name, const ordered_json& check,
                                     std::span<const RunSummary> runs, const LookUps& look_up) {
  const bool of_each = !check.contains("where") && !check.contains("against") &&
                       !check.contains("against_where") && !check.contains("target_of");
  const Chosen own{check.value("method", ""), ordered_json::object()};
  std::vector<RunSummary> chosen;
  if (of_each) std::copy_if(runs.begin(), runs.end(), std::back_inserter(chosen), own);
  const std::vector<RunGroup> groups = group_runs(chosen);
  if (groups.size() < 2) return {row_of(name, check, runs, look_up)};
  std::vector<ReproductionRow> rows;
  for (const RunGroup& group : groups) {
    rows.push_back(row_of(name, check, group.runs, look_up));
    rows.back().method = group.label;
  }
  return rows;
}

}  // namespace

std::optional<double> time_to_accuracy(const Store& store, RunId run, double accuracy) {
  std::int64_t reached = -1;
  for (const MetricRow& metric : store.metrics(run)) {
    const bool enough = metric.name == "accuracy" && metric.step >= 0 && metric.value >= accuracy;
    if (enough && (reached < 0 || metric.step < reached)) reached = metric.step;
  }
  if (reached < 0) return std::nullopt;
  for (const StepRow& step : store.steps(run))
    if (step.step == reached) return step.end_s;
  return std::nullopt;
}

std::optional<double> figure_of_workload(const Store& store, RunId run, const std::string& figure) {
  for (const MetricRow& metric : store.metrics(run))
    if (metric.name == figure && metric.step < 0) return metric.value;
  return std::nullopt;
}

std::vector<ReproductionRow> check_reproduction(const std::string& name,
                                                const ordered_json& expected,
                                                std::span<const RunSummary> runs,
                                                const TimeToAccuracy& time_to_accuracy,
                                                const FigureOfWorkload& figure_of_workload) {
  std::vector<ReproductionRow> rows;
  if (!expected.is_object() || !expected.contains("checks")) return rows;
  for (const ordered_json& check : expected["checks"])
    for (ReproductionRow& row : rows_of(name, check, runs, {time_to_accuracy, figure_of_workload}))
      rows.push_back(std::move(row));
  return rows;
}

}  // namespace gradwire::results
