#include "bench/fidelity/linux_comparison.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/fidelity/kernel.h"
#include "bench/fidelity/statistics.h"
#include "bench/rows/timing.h"

namespace gradwire::bench {
namespace {

constexpr int kTries = 3;
constexpr std::size_t kCleanRuns = 3;
constexpr int kMostCleanRuns = 12;
constexpr double kLateShare = 0.01;   // of a repetition
constexpr double kLeastLate = 40e-6;  // s
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

using Repeats = std::vector<std::vector<Repetition>>;  // by repeat

bool are_enough(const Repeats& repeats) {
  return std::all_of(repeats.begin(), repeats.end(), [](const auto& list) {
    return static_cast<std::size_t>(std::count_if(list.begin(), list.end(), [](const auto& r) {
             return !r.is_disturbed();
           })) >= kCleanRuns;
  });
}

/// Runs until each repeat has enough undisturbed repetitions.
Repeats measure_clean(const Experiment& experiment, double limit_s) {
  Repeats repeats(static_cast<std::size_t>(experiment.repeats));
  const double start = now_s();
  for (int run = 0; run < kMostCleanRuns && !are_enough(repeats); ++run) {
    if (run >= static_cast<int>(kCleanRuns) && now_s() - start > limit_s) break;
    const KernelRun kernel = run_kernel(experiment, kKernelSeed, limit_s / kCleanRuns);
    if (kernel.missed) continue;
    for (std::size_t i = 0; i < kernel.spans.size(); ++i)
      repeats[i].push_back({kernel.spans[i], kernel.late[i]});
  }
  return repeats;
}

}  // namespace

bool Repetition::is_disturbed() const {
  return late > std::max(kLeastLate, kLateShare * span);
}

double undisturbed_median(std::vector<Repetition> repetitions) {
  std::stable_sort(repetitions.begin(), repetitions.end(),
                   [](const Repetition& a, const Repetition& b) { return a.late < b.late; });
  std::vector<double> spans;
  for (const Repetition& r : repetitions)
    if (spans.size() < kCleanRuns || !r.is_disturbed()) spans.push_back(r.span);
  return median_of(spans);
}

LinuxComparison compare_linux_clean(const FidelityCase& c, double limit_s) {
  LinuxComparison result;
  result.name = c.experiment.name;
  const Repeats repeats = measure_clean(c.experiment, limit_s);
  const std::vector<double> flow = makespans(c.experiment, "flow", kFlowSeed);
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i].empty()) continue;
    const double kernel = undisturbed_median(repeats[i]);
    result.kernel += kernel;
    result.flow += flow[i];
    result.errors.push_back(error_of(flow[i], kernel));
    result.transfers += static_cast<int>(repeats[i].size());
    result.disturbed += static_cast<int>(std::count_if(
        repeats[i].begin(), repeats[i].end(), [](const auto& r) { return r.is_disturbed(); }));
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
