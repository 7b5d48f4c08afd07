#include "results/reproduction_checks.h"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "results/fields.h"
#include "results/summary.h"

namespace gradwire::results {
namespace {

using nlohmann::ordered_json;

using BySeed = std::map<std::string, double>;

/// The figure of each seed. `method` empty: of all runs, which must have one method then.
BySeed figures_of(std::span<const RunSummary> runs, const std::string& method,
                  const std::string& metric) {
  const Field* const field = find_field(metric);
  GRADWIRE_ASSERT(field != nullptr && field->numeric());  // the scenario's table names such alone
  BySeed figures;
  std::set<std::string> known;
  for (const RunSummary& run : runs) {
    known.insert(run.header.method);
    const auto figure = field->number(run);
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

/// A seed that diverged is not left out: without a mean no mark is met.
void take_statistics(const BySeed& figures, ReproductionRow& row) {
  std::vector<double> values;
  for (const auto& [seed, value] : figures) values.push_back(value);
  const Statistic all = statistic(values);
  row.seeds = static_cast<int>(values.size());
  row.value = all.n == row.seeds ? all.mean : std::numeric_limits<double>::quiet_NaN();
  if (row.seeds >= 2) row.spread = all.n == row.seeds ? all.spread : row.value;
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
