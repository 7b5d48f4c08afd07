#include "bench/calibration/calibration.h"

#include <sys/utsname.h>

#include <cmath>
#include <ctime>

#include "bench/fidelity/kernel.h"
#include "bench/fidelity/statistics.h"

namespace gradwire::bench {
namespace {

constexpr double kShareOfReach = 0.6;
constexpr double kLabRoundTrip = 4e-3;  // s: an eighth of it is the shortest link's delay
constexpr double kMostPackets = 60e3;
constexpr double kMostVirtual = 600;  // s of ns-3's clock

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string kernel_release() {
  utsname name{};
  ::uname(&name);
  return name.release;
}

Reach reach_of(const CalibrateOptions& options, const Say& say) {
  const bool is_packet = options.reference == "packet";
  Reach reach{options.reference, 0, 0, kMostPackets,
              is_packet ? kMostVirtual : options.point_limit_s};
  if (options.reference != "linux") return reach;
  const KernelReach held = measure_kernel_reach();
  reach.rate = kShareOfReach * held.rate;
  reach.least_round_trip = kLabRoundTrip;
  say("the links hold " + std::to_string(std::lround(held.rate / 1e6)) + " Mbps");
  return reach;
}

std::string regime_of(const GridPoint& point) {
  const std::string far = point.round_trip >= 10e-3 ? "wide area" : "local";
  if (point.loss <= 0) return far + (point.flows > 1 ? ", shared, clean" : ", one flow, clean");
  return far + (point.bytes >= 1e6 ? ", lossy, 1 MB and more" : ", lossy, up to 100 kB");
}

sim::Calibration describe(const CalibrateOptions& options, const sim::Calibration& shipped) {
  sim::Calibration result = shipped;
  result.date = today();
  result.reference = options.reference == "linux" ? "Linux " + kernel_release() : "ns-3 3.44";
  result.versions["seed"] = std::to_string(options.seed);
  result.how = "`gradwire calibrate --against " + options.reference + " --seed " +
               std::to_string(options.seed) + " --points " + std::to_string(options.points) +
               "`: rules as in the calibration " + shipped.name +
               " that ships, numbers named in `fitted` by coordinate search.";
  result.fitted.clear();
  for (const auto& field : fitted_fields(options.reference)) result.fitted.emplace_back(field.name);
  return result;
}

/// What a reader of the file wants to know of the fit.
void note_fit(CalibrationResult& result, const CalibrateOptions& options) {
  result.calibration.grid = {{"seed", static_cast<double>(options.seed)},
                             {"points", options.points},
                             {"measured", static_cast<double>(result.errors.size())},
                             {"extrapolated", static_cast<double>(result.extrapolated.size())}};
  std::vector<double> before, after;
  for (const PointError& e : result.errors) {
    before.push_back(std::abs(e.before));
    after.push_back(std::abs(e.after));
  }
  if (after.empty()) return;
  result.calibration.error = {{"median", median_of(after)},
                              {"p90", quantile_of(after, 0.9)},
                              {"median_before", median_of(before)},
                              {"p90_before", quantile_of(before, 0.9)}};
}

}  // namespace

CalibrationResult calibrate(const CalibrateOptions& options, const Say& say) {
  CalibrationResult result;
  const sim::Calibration shipped = sim::shipped_calibration(options.reference);
  const auto list = measure_grid(options, reach_of(options, say), say, result.complete);
  std::vector<Measurement> measured;
  for (const Measurement& m : list) (m.times.empty() ? result.extrapolated : measured).push_back(m);
  result.calibration = describe(options, shipped);
  result.stopped = options.stopped && options.stopped();
  if (result.stopped) return result;
  result.calibration.constants = fit_constants(
      measured, shipped.constants, fitted_fields(options.reference), options.stopped, say);
  result.stopped = options.stopped && options.stopped();
  if (result.stopped) return result;
  for (const Measurement& m : measured) {
    const double reference = mean_of(m.times);
    result.errors.push_back({name_of(m.point), regime_of(m.point), reference,
                             flow_mean(m.point, shipped.constants) / reference - 1,
                             flow_mean(m.point, result.calibration.constants) / reference - 1});
  }
  note_fit(result, options);
  return result;
}

}  // namespace gradwire::bench
