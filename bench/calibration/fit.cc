#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "bench/calibration/calibration.h"
#include "bench/fidelity/statistics.h"

namespace gradwire::bench {
namespace {

constexpr double kMostCounted = 0.5;  // of |log ratio|
constexpr int kRounds = 2;
constexpr std::array kScales = {0.5, 0.8, 1.25, 2.0};
constexpr double kLeastGain = 1e-4;
constexpr double kSure = 2;  // standard errors

/// Mean gain from `before` to `after` and whether the points agree about it.
bool is_better(const std::vector<double>& before, const std::vector<double>& after) {
  std::vector<double> gains;
  for (std::size_t i = 0; i < before.size(); ++i) gains.push_back(before[i] - after[i]);
  const double mean = mean_of(gains);
  double squares = 0;
  for (const double gain : gains) squares += (gain - mean) * (gain - mean);
  const auto n = static_cast<double>(gains.size());
  return mean > kLeastGain && mean * n > kSure * std::sqrt(squares);
}

}  // namespace

std::vector<sim::ConstantField> fitted_fields(const std::string& reference) {
  std::vector<std::string_view> names = {"train_share", "least_rise_s", "settle_time_s"};
  if (reference == "linux")
    names = {"train_share", "train_slack_s", "least_rise_s", "reorder_share", "probe_slack_s"};
  std::vector<sim::ConstantField> list;
  for (const sim::ConstantField& field : sim::constant_fields())
    if (std::find(names.begin(), names.end(), field.name) != names.end()) list.push_back(field);
  return list;
}

std::vector<double> robust_errors(const std::vector<Measurement>& measured,
                                  const sim::TcpConstants& constants) {
  std::vector<double> errors;
  for (const Measurement& m : measured) {
    if (m.times.empty()) continue;
    const double ratio = flow_mean(m.point, constants) / mean_of(m.times);
    errors.push_back(std::min(std::abs(std::log(ratio)), kMostCounted));
  }
  return errors;
}

double robust_error(const std::vector<Measurement>& measured, const sim::TcpConstants& constants) {
  const std::vector<double> errors = robust_errors(measured, constants);
  return errors.empty() ? 0 : mean_of(errors);
}

sim::TcpConstants fit_constants(const std::vector<Measurement>& measured, sim::TcpConstants start,
                                const std::vector<sim::ConstantField>& fields,
                                const std::function<bool()>& stopped, const Say& say) {
  if (stopped && stopped()) return start;
  std::vector<double> best = robust_errors(measured, start);
  for (int round = 0; round < kRounds && !best.empty(); ++round) {
    const sim::TcpConstants before = start;
    for (const sim::ConstantField& field : fields) {
      const double centre = start.*field.number;
      for (const double scale : kScales) {
        if (stopped && stopped()) return start;
        sim::TcpConstants tried = start;
        tried.*field.number = std::clamp(centre * scale, field.least, field.most);
        std::vector<double> errors = robust_errors(measured, tried);
        if (!is_better(best, errors)) continue;
        best = std::move(errors);
        start = tried;
      }
      char text[120];
      std::snprintf(text, sizeof text, "%s = %.4g: mean error %.2f %%",
                    std::string(field.name).c_str(), start.*field.number, 100 * mean_of(best));
      say(text);
    }
    if (before == start) break;
  }
  return start;
}

}  // namespace gradwire::bench
