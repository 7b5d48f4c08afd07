#include <cmath>
#include <filesystem>

#include "base/file_descriptor.h"
#include "bench/calibration/calibration.h"
#include "bench/fidelity/kernel.h"
#include "bench/fidelity/statistics.h"
#include "bench/timing.h"

namespace gradwire::bench {
namespace {

constexpr std::uint64_t kReferenceSeed = 5000;
constexpr std::uint64_t kFlowSeed = 6'000'000;
constexpr std::size_t kRandomTransfers = 48;  // of a point with loss, measured
constexpr std::size_t kFlowTransfers = 400;   // ... and of flow
constexpr int kTries = 3;

/// The transfers that count: of warm points all but each connection's first.
std::vector<double> counted(const GridPoint& point, const Times& times) {
  std::vector<double> all;
  for (const auto& chain : times)
    for (std::size_t i = point.warm ? 1 : 0; i < chain.size(); ++i) all.push_back(chain[i]);
  return all;
}

/// One run, with frames in time; empty: in no try, or not done.
std::vector<double> run_linux(const GridPoint& point, std::uint64_t seed, double limit_s) {
  const Experiment experiment = experiment_of(point);
  for (int i = 0; i < kTries; ++i) {
    const KernelRun run = run_kernel(experiment, seed, limit_s);
    for (const auto& chain : run.times)
      if (chain.size() != static_cast<std::size_t>(experiment.repeats)) return {};
    if (run.exact) return counted(point, run.times);
  }
  return {};
}

std::vector<double> run_packet(const GridPoint& point, std::uint64_t seed, double limit_s) {
  Experiment experiment = experiment_of(point);
  const double end = now_s() + limit_s;
  experiment.options.on_progress = [end](Seconds, std::uint64_t) { return now_s() < end; };
  try {
    return counted(point, run_experiment(experiment, "packet", seed));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCapability || now_s() < end) throw;
    return {};  // our own limit
  }
}

/// Runs of other seeds until there are enough transfers, where they are random, or time is up.
std::vector<double> measure(const GridPoint& point, const std::string& reference, double limit_s) {
  const double end = now_s() + limit_s;
  std::vector<double> all;
  for (std::uint64_t run = 0; now_s() < end; ++run) {
    const auto one = reference == "linux" ? run_linux : run_packet;
    const std::vector<double> more = one(point, kReferenceSeed + run, end - now_s());
    if (more.empty()) break;
    all.insert(all.end(), more.begin(), more.end());
    if (point.loss <= 0 || all.size() >= kRandomTransfers) break;
  }
  return all;
}

void keep(const CalibrateOptions& options, const std::vector<Measurement>& list) {
  if (!options.measurements.empty())
    write_file(options.measurements, measurements_json(list, options));
}

}  // namespace

double flow_mean(const GridPoint& point, const sim::TcpConstants& constants) {
  Experiment experiment = experiment_of(point);
  experiment.options.transport.constants = constants;
  std::vector<double> all;
  for (std::uint64_t run = 0; all.empty() || (point.loss > 0 && all.size() < kFlowTransfers);
       ++run) {
    const auto times = counted(point, run_experiment(experiment, "flow", kFlowSeed + run));
    all.insert(all.end(), times.begin(), times.end());
  }
  return mean_of(all);
}

std::vector<Measurement> measure_grid(const CalibrateOptions& options, const Reach& reach,
                                      const Say& say, bool& complete) {
  std::vector<Measurement> list;
  if (options.resume && std::filesystem::exists(options.measurements))
    list = parse_measurements(read_file(options.measurements), options);
  if (!list.empty()) say(std::to_string(list.size()) + " points are measured already");
  const auto grid = calibration_grid(options.seed, options.points);
  const double end = now_s() + options.time_limit_s;
  for (std::size_t i = list.size(); i < grid.size(); ++i) {
    if ((options.stopped && options.stopped()) || now_s() >= end) {
      complete = false;
      say("stopped: " + std::to_string(grid.size() - i) + " points are not measured");
      break;
    }
    Measurement m{grid[i], {}, extrapolated_because(grid[i], reach)};
    const double start = now_s();
    if (m.extrapolated.empty()) {
      const double limit = std::min(options.point_limit_s, end - now_s());
      m.times = measure(m.point, reach.reference, limit);
      if (m.times.empty()) m.extrapolated = "not done within the time of a point";
    }
    char text[64];
    std::snprintf(text, sizeof text, "%zu of %zu: ", i + 1, grid.size());
    std::string line = text + name_of(m.point);
    if (m.extrapolated.empty())
      std::snprintf(text, sizeof text, ": %.3f ms (%.1f s)", 1e3 * mean_of(m.times),
                    now_s() - start);
    else
      std::snprintf(text, sizeof text, ": %s", m.extrapolated.c_str());
    say(line + text);
    list.push_back(std::move(m));
    keep(options, list);
  }
  return list;
}

}  // namespace gradwire::bench
