#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/file_descriptor.h"
#include "bench/calibration/calibration.h"
#include "bench/fidelity/kernel.h"
#include "bench/fidelity/statistics.h"
#include "bench/rows/timing.h"

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

using Stopped = std::function<bool()>;

/// One run, with frames in time; empty: in no try, or not done.
std::vector<double> run_linux(const GridPoint& point, std::uint64_t seed, double limit_s,
                              const Stopped& stopped) {
  const Experiment experiment = experiment_of(point);
  for (int i = 0; i < kTries && !stopped(); ++i) {
    const KernelRun run = run_kernel(experiment, seed, limit_s);
    for (const auto& chain : run.times)
      if (chain.size() != static_cast<std::size_t>(experiment.repeats)) return {};
    if (run.exact) return counted(point, run.times);
  }
  return {};
}

std::vector<double> run_packet(const GridPoint& point, std::uint64_t seed, double limit_s,
                               const Stopped& stopped) {
  Experiment experiment = experiment_of(point);
  const double end = now_s() + limit_s;
  const auto is_over = [&] { return now_s() >= end || stopped(); };
  experiment.options.on_progress = [&](Seconds, std::uint64_t) { return !is_over(); };
  try {
    return counted(point, run_experiment(experiment, "packet", seed));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCapability || !is_over()) throw;
    return {};  // our own limit
  }
}

/// Runs of other seeds until there are enough transfers, where they are random, or time is up. An
/// interrupt that reaches the reference's process too is no failure of it.
std::vector<double> measure(const GridPoint& point, const std::string& reference, double limit_s,
                            const Stopped& stopped) {
  const double end = now_s() + limit_s;
  std::vector<double> all;
  for (std::uint64_t run = 0; now_s() < end && !stopped(); ++run) {
    std::vector<double> more;
    try {
      const auto one = reference == "linux" ? run_linux : run_packet;
      more = one(point, kReferenceSeed + run, end - now_s(), stopped);
    } catch (const Error&) {
      if (!stopped()) throw;
    }
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

std::string outcome_of(const Measurement& m, double seconds) {
  if (!m.extrapolated.empty()) return m.extrapolated;
  char text[64];
  std::snprintf(text, sizeof text, "%.3f ms (%.1f s)", 1e3 * mean_of(m.times), seconds);
  return text;
}

/// What is kept beside the output. Throws Error(kUsage) where it is not this grid's, or was not
/// asked for: hours of measuring are not to be overwritten.
std::vector<Measurement> kept(const CalibrateOptions& options) {
  if (!std::filesystem::exists(options.measurements)) return {};
  const auto refuse = [&](const char* why, const char* hint) {
    throw Error(ErrorKind::kUsage, "calibrate with", options.measurements, why, hint);
  };
  if (!options.resume)
    refuse("it holds the measurements of an earlier run",
           "--resume goes on with them; or remove it");
  auto list = parse_measurements(read_file(options.measurements), options);
  if (list.empty())
    refuse("it holds no measurements of this reference, --seed and --points",
           "give the same ones as before, or another --output");
  return list;
}

/// Nothing: stopped before it was done.
std::optional<Measurement> measure_point(const GridPoint& point, const CalibrateOptions& options,
                                         const Reach& reach, double limit_s) {
  const Stopped stopped = [&] { return options.stopped && options.stopped(); };
  Measurement m{point, {}, extrapolated_because(point, reach)};
  if (!m.extrapolated.empty()) return m;
  m.times = measure(point, reach.reference, limit_s, stopped);
  if (stopped()) return std::nullopt;
  if (m.times.empty()) m.extrapolated = "not done within the time of a point";
  return m;
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
  std::vector<Measurement> list = kept(options);
  if (!list.empty()) say(std::to_string(list.size()) + " points are measured already");
  const auto grid = calibration_grid(options.seed, options.points);
  const double end = now_s() + options.time_limit_s;
  for (std::size_t i = list.size(); i < grid.size(); ++i) {
    const double start = now_s();
    std::optional<Measurement> m;
    if (start < end && !(options.stopped && options.stopped()))
      m = measure_point(grid[i], options, reach, std::min(options.point_limit_s, end - start));
    if (!m) {
      complete = false;
      say("stopped: " + std::to_string(grid.size() - i) + " points are not measured");
      break;
    }
    say(std::to_string(i + 1) + " of " + std::to_string(grid.size()) + ": " + name_of(m->point) +
        ": " + outcome_of(*m, now_s() - start));
    list.push_back(std::move(*m));
    keep(options, list);
  }
  return list;
}

}  // namespace gradwire::bench
