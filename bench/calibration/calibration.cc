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
constexpr double kMostPackets = 200e3;

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
  Reach reach{options.reference, 0, 0, kMostPackets, options.point_limit_s};
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
  for (const auto& field : fitted_fields()) result.fitted.emplace_back(field.name);
  return result;
}

}  // namespace

CalibrationResult calibrate(const CalibrateOptions& options, const Say& say) {
  CalibrationResult result;
  const sim::Calibration shipped = sim::shipped_calibration(options.reference);
  const auto list = measure_grid(options, reach_of(options, say), say, result.complete);
  std::vector<Measurement> measured;
  for (const Measurement& m : list) (m.times.empty() ? result.extrapolated : measured).push_back(m);
  result.calibration = describe(options, shipped);
  result.calibration.constants = fit_constants(measured, shipped.constants, options.stopped, say);
  for (const Measurement& m : measured) {
    const double reference = mean_of(m.times);
    result.errors.push_back({name_of(m.point), regime_of(m.point), reference,
                             flow_mean(m.point, shipped.constants) / reference - 1,
                             flow_mean(m.point, result.calibration.constants) / reference - 1});
  }
  return result;
}

}  // namespace gradwire::bench
