#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/calibration/calibration.h"
#include "bench/fidelity/statistics.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kWorst = 5;

std::string percent(double share) {
  char text[24];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

ordered_json point_json(const GridPoint& p) {
  return {p.rate, p.round_trip, p.loss, p.bytes, p.flows, p.warm, p.control};
}

std::string regimes_table(const std::vector<PointError>& errors) {
  std::map<std::string, std::vector<PointError>> by_regime;
  for (const PointError& e : errors) by_regime[e.regime].push_back(e);
  std::string text =
      "| regime | points | median error | p90 | worst | median before fitting |\n"
      "|---|---|---|---|---|---|\n";
  for (const auto& [regime, list] : by_regime) {
    std::vector<double> before, after;
    for (const PointError& e : list) {
      before.push_back(std::abs(e.before));
      after.push_back(std::abs(e.after));
    }
    text += "| " + regime + " | " + std::to_string(list.size()) + " | " +
            percent(median_of(after)) + " | " + percent(quantile_of(after, 0.9)) + " | " +
            percent(*std::max_element(after.begin(), after.end())) + " | " +
            percent(median_of(before)) + " |\n";
  }
  return text;
}

std::string worst_table(std::vector<PointError> errors) {
  std::sort(errors.begin(), errors.end(), [](const PointError& a, const PointError& b) {
    return std::abs(a.after) > std::abs(b.after);
  });
  std::string text = "| worst cases | reference | flow |\n|---|---|---|\n";
  for (std::size_t i = 0; i < std::min(kWorst, errors.size()); ++i) {
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, " | %.2f ms | %+.1f %% |\n", 1e3 * errors[i].reference,
                  100 * errors[i].after);
    text += "| " + errors[i].name + numbers;
  }
  return text;
}

std::string constants_table(const CalibrationResult& result, const std::string& reference) {
  const sim::TcpConstants shipped = sim::shipped_calibration(reference).constants;
  std::string text = "| constant | shipped | fitted |\n|---|---|---|\n";
  for (const auto& field : fitted_fields(reference)) {
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, "` | %.4g | %.4g |\n", shipped.*field.number,
                  result.calibration.constants.*field.number);
    text += "| `" + std::string(field.name) + numbers;
  }
  return text;
}

std::string extrapolated_list(const std::vector<Measurement>& list) {
  std::map<std::string, int> reasons;
  for (const Measurement& m : list) ++reasons[m.extrapolated];
  std::string text;
  for (const auto& [reason, count] : reasons)
    text += "- " + std::to_string(count) + " points: " + reason + "\n";
  return text;
}

}  // namespace

std::string measurements_json(const std::vector<Measurement>& list, const CalibrateOptions& of) {
  ordered_json points = ordered_json::array();
  for (const Measurement& m : list)
    points.push_back(
        {{"point", point_json(m.point)}, {"times", m.times}, {"extrapolated", m.extrapolated}});
  return ordered_json({{"schema_version", 1},
                       {"reference", of.reference},
                       {"seed", of.seed},
                       {"points", of.points},
                       {"measurements", points}})
             .dump(1) +
         "\n";
}

std::vector<Measurement> parse_measurements(const std::string& text, const CalibrateOptions& of) {
  const ordered_json json = ordered_json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("reference", "") != of.reference ||
      json.value("seed", std::uint64_t{0}) != of.seed || json.value("points", 0) != of.points)
    return {};
  const auto grid = calibration_grid(of.seed, of.points);
  std::vector<Measurement> list;
  for (const ordered_json& item : json.at("measurements")) {
    if (list.size() == grid.size() || item.at("point") != point_json(grid[list.size()])) return {};
    list.push_back({grid[list.size()], item.at("times").get<std::vector<double>>(),
                    item.at("extrapolated").get<std::string>()});
  }
  return list;
}

std::string calibration_markdown(const CalibrationResult& result, const CalibrateOptions& options) {
  std::string text = "## Calibration against " + result.calibration.reference + ", " +
                     result.calibration.date + "\n\n" + result.calibration.how + "\n\n" +
                     std::to_string(result.errors.size()) +
                     " points of the grid were measured; errors are |flow / reference - 1| of the "
                     "mean time of a transfer.";
  if (!result.complete) text += " The grid was cut short.";
  text += "\n\n" + regimes_table(result.errors) + "\n" + worst_table(result.errors) + "\n" +
          constants_table(result, options.reference);
  if (!result.extrapolated.empty())
    text += "\nExtrapolated (flow gives a time there, nothing checks it):\n\n" +
            extrapolated_list(result.extrapolated);
  return text;
}

}  // namespace gradwire::bench
