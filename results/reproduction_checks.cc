#include "results/reproduction_checks.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"

namespace gradwire::results {
namespace {

using nlohmann::ordered_json;

std::optional<double> figure_of(const RunSummary& run, const std::string& metric) {
  if (metric == "final_accuracy") return run.final_accuracy;
  if (metric == "final_loss") return run.final_loss;
  if (metric == "step_time_s") return run.step_time_s;
  if (metric == "wire_bytes") return run.wire_bytes;
  if (metric == "simulated_s") return run.simulated_s;
  return std::nullopt;
}

using BySeed = std::map<std::string, double>;

/// The figure of each seed. `method` empty: of all runs, which must have one method then.
BySeed figures_of(std::span<const RunSummary> runs, const std::string& method,
                  const std::string& metric) {
  BySeed figures;
  std::set<std::string> known;
  for (const RunSummary& run : runs) {
    known.insert(run.header.method);
    const auto figure = figure_of(run, metric);
    const bool chosen = method.empty() || run.header.method == method;
    if (chosen && run.status == RunStatus::kFinished && figure)
      figures[std::to_string(run.header.seed)] = *figure;
  }
  if (figures.empty()) {
    std::string names;
    for (const std::string& each : known) names += (names.empty() ? "" : ", ") + each;
    throw Error(ErrorKind::kScenario, "check " + metric + " of", method,
                "no finished run has that method; there are: " + names);
  }
  return figures;
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

void take_statistics(const BySeed& figures, ReproductionRow& row) {
  const auto n = static_cast<double>(figures.size());
  double sum = 0, squares = 0;
  for (const auto& [seed, value] : figures) sum += value;
  row.value = sum / n;
  row.seeds = static_cast<int>(figures.size());
  if (figures.size() < 2) return;
  for (const auto& [seed, value] : figures) squares += (value - row.value) * (value - row.value);
  row.spread = std::sqrt(squares / (n - 1));
}

ReproductionRow row_of(const std::string& name, const ordered_json& check,
                       std::span<const RunSummary> runs) {
  const std::string metric = check.at("metric"), method = check.value("method", "");
  const std::string against = check.value("against", "");
  const bool ratio = check.value("compare", "difference") == "ratio";
  BySeed figures = figures_of(runs, method, metric);
  if (!against.empty()) figures = compared(figures, figures_of(runs, against, metric), ratio);
  if (figures.empty())
    throw Error(ErrorKind::kScenario, "compare " + method + " with", against,
                "they have no seed in common");
  ReproductionRow row;
  row.name = name + "." + metric;
  if (!against.empty()) row.name += ratio ? ".ratio" : ".difference";
  row.method = method + (against.empty() ? "" : (ratio ? " / " : " - ") + against);
  row.claim = check.value("claim", "");
  row.negative_control = check.value("negative_control", false);
  PassMark mark;
  if (check.contains("min")) mark.least = check["min"].get<double>();
  if (check.contains("max")) mark.most = check["max"].get<double>();
  if (mark.least || mark.most) row.pass_mark = mark;
  take_statistics(figures, row);
  return row;
}

}  // namespace

std::vector<ReproductionRow> check_reproduction(const std::string& name,
                                                const ordered_json& expected,
                                                std::span<const RunSummary> runs) {
  std::vector<ReproductionRow> rows;
  if (!expected.is_object() || !expected.contains("checks")) return rows;
  for (const ordered_json& check : expected["checks"]) rows.push_back(row_of(name, check, runs));
  return rows;
}

}  // namespace gradwire::results
