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

}  // namespace

std::vector<sim::ConstantField> fitted_fields() {
  constexpr std::array<std::string_view, 3> kNames = {"train_share", "least_rise_s",
                                                      "probe_slack_s"};
  std::vector<sim::ConstantField> list;
  for (const sim::ConstantField& field : sim::constant_fields())
    if (std::find(kNames.begin(), kNames.end(), field.name) != kNames.end()) list.push_back(field);
  return list;
}

double robust_error(const std::vector<Measurement>& measured, const sim::TcpConstants& constants) {
  std::vector<double> errors;
  for (const Measurement& m : measured) {
    if (m.times.empty()) continue;
    const double ratio = flow_mean(m.point, constants) / mean_of(m.times);
    errors.push_back(std::min(std::abs(std::log(ratio)), kMostCounted));
  }
  return errors.empty() ? 0 : mean_of(errors);
}

sim::TcpConstants fit_constants(const std::vector<Measurement>& measured, sim::TcpConstants start,
                                const std::function<bool()>& stopped, const Say& say) {
  double best = robust_error(measured, start);
  for (int round = 0; round < kRounds; ++round) {
    const double before = best;
    for (const sim::ConstantField& field : fitted_fields()) {
      const double centre = start.*field.number;
      for (const double scale : kScales) {
        if (stopped && stopped()) return start;
        sim::TcpConstants tried = start;
        tried.*field.number = std::clamp(centre * scale, field.least, field.most);
        const double error = robust_error(measured, tried);
        if (error > best - kLeastGain) continue;
        best = error;
        start = tried;
      }
      char text[120];
      std::snprintf(text, sizeof text, "%s = %.4g: mean error %.2f %%",
                    std::string(field.name).c_str(), start.*field.number, 100 * best);
      say(text);
    }
    if (before - best < kLeastGain) break;
  }
  return start;
}

}  // namespace gradwire::bench
