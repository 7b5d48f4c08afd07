#include "bench/fidelity/linux_comparison.h"

#include <cmath>
#include <optional>

#include "bench/fidelity/kernel.h"
#include "bench/fidelity/statistics.h"
#include "bench/timing.h"

namespace gradwire::bench {
namespace {

constexpr int kTries = 3;
constexpr int kCleanRuns = 3;
constexpr std::uint64_t kKernelSeed = 3000;
constexpr std::uint64_t kFlowSeed = 4'000'000;
constexpr int kMostFlowRuns = 200;
constexpr double kFlowError = 0.01;
constexpr double kFlowLimit = 5;  // s

/// A run whose frames left in time; empty: in no try.
std::optional<KernelRun> exact_run(const Experiment& experiment, std::uint64_t seed,
                                   double limit_s) {
  for (int i = 0; i < kTries; ++i) {
    KernelRun run = run_kernel(experiment, seed, limit_s);
    if (run.exact) return run;
  }
  return std::nullopt;
}

std::vector<double> all_of(const Times& times) {
  std::vector<double> all;
  for (const auto& chain : times) all.insert(all.end(), chain.begin(), chain.end());
  return all;
}

/// Means of chains: repeats of one depend on each other.
void add_means(const Times& times, std::vector<double>& means) {
  for (const auto& chain : times)
    if (!chain.empty()) means.push_back(mean_of(chain));
}

/// As many runs as make flow's own scatter small.
std::vector<double> flow_times(const Experiment& experiment) {
  std::vector<double> all, means;
  const double start = now_s();
  for (int run = 0; run < kMostFlowRuns && now_s() - start < kFlowLimit; ++run) {
    const Times times =
        run_experiment(experiment, "flow", kFlowSeed + static_cast<std::uint64_t>(run));
    const std::vector<double> more = all_of(times);
    all.insert(all.end(), more.begin(), more.end());
    add_means(times, means);
    if (run > 0 && relative_error_of(means) < kFlowError) break;
  }
  return all;
}

double error_of(double flow, double kernel) {
  return std::abs(flow / kernel - 1);
}

}  // namespace

LinuxComparison compare_linux_clean(const FidelityCase& c, double limit_s) {
  LinuxComparison result;
  result.name = c.experiment.name;
  std::vector<std::vector<double>> spans(static_cast<std::size_t>(c.experiment.repeats));
  for (int run = 0; run < kCleanRuns; ++run) {
    const auto kernel = exact_run(c.experiment, kKernelSeed, limit_s / kCleanRuns);
    if (!kernel) continue;
    for (std::size_t i = 0; i < kernel->spans.size(); ++i) spans[i].push_back(kernel->spans[i]);
  }
  const std::vector<double> flow = makespans(c.experiment, "flow", kFlowSeed);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].empty()) continue;
    result.kernel += median_of(spans[i]);
    result.flow += flow[i];
    result.errors.push_back(error_of(flow[i], median_of(spans[i])));
    result.transfers += static_cast<int>(spans[i].size());
  }
  result.spoilt = result.errors.empty();
  return result;
}

LinuxComparison compare_linux_lossy(const FidelityCase& c, double limit_s) {
  LinuxComparison result;
  result.name = c.experiment.name;
  const auto kernel = exact_run(c.experiment, kKernelSeed, limit_s);
  const std::vector<double> measured = kernel ? all_of(kernel->times) : std::vector<double>();
  if (measured.empty()) {
    result.spoilt = true;
    return result;
  }
  const std::vector<double> flow = flow_times(c.experiment);
  result.kernel = mean_of(measured);
  result.flow = mean_of(flow);
  result.transfers = static_cast<int>(measured.size());
  result.errors.push_back(error_of(result.flow, result.kernel));
  result.quantile_50 = error_of(quantile_of(flow, 0.5), quantile_of(measured, 0.5));
  result.quantile_90 = error_of(quantile_of(flow, 0.9), quantile_of(measured, 0.9));
  std::vector<double> means;
  add_means(kernel->times, means);
  result.kernel_error = relative_error_of(means);
  return result;
}

}  // namespace gradwire::bench
