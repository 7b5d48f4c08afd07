#include "bench/emulation/emulation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "base/error.h"
#include "bench/emulation/gloo_rows.h"
#include "bench/emulation/link_rows.h"
#include "bench/emulation/steps.h"
#include "bench/fidelity/statistics.h"
#include "emulator/emulator.h"

namespace gradwire::bench {
namespace {

constexpr int kFlowRuns = 8;  ///< of a lossy case: their mean is what flow says

// Steps of a lossy case go on from each other's windows: a dozen of them are one draw. It takes as
// many as these have room for, where they are more than were asked for.
constexpr double kLossyTime = 20;  // s
constexpr int kMostLossySteps = 400;

/// Standard error of the mean, a share of it, of steps that go on from each other: by means of so
/// many stretches of them (batch means).
double spread_of(const std::vector<double>& steps) {
  constexpr std::size_t kStretches = 10;
  if (steps.size() < 2 * kStretches) return relative_error_of(steps);
  std::vector<double> means;
  for (std::size_t i = 0; i < kStretches; ++i)
    means.push_back(mean_of(
        {steps.begin() + static_cast<std::ptrdiff_t>(i * steps.size() / kStretches),
         steps.begin() + static_cast<std::ptrdiff_t>((i + 1) * steps.size() / kStretches)}));
  return relative_error_of(means);
}

struct Outcome {
  double emulated = 0;  ///< s, the mean step
  double spread = 0;    ///< its standard error, a share of it
  int steps = 0;
  double flow = 0;
  double late_99 = 0;
  std::string refused, invalid;  ///< why

  double error() const { return std::abs(flow / emulated - 1); }
  bool counts() const { return refused.empty() && invalid.empty(); }
};

/// Every link has its share of the wake-ups in the base RTT: a star's way and back crosses four.
sim::Cluster as_emulated(const sim::Cluster& cluster, const emulator::EmulatorReport& report) {
  sim::Cluster twin = cluster;
  for (int link = 0; link < static_cast<int>(cluster.links().size()); ++link) {
    sim::LinkSpec spec = cluster.links()[static_cast<std::size_t>(link)].spec;
    if (report.delay_by == "none") spec.delay = Seconds(0);
    spec.delay += report.median_overhead / 4;
    twin.change_link(link, spec);
  }
  return twin;
}

Outcome run_case(const EmulationCase& c, const EmulationOptions& options) {
  Outcome outcome;
  emulator::EmulatorOptions emulated;
  emulated.transport = emulation_transport();
  emulated.shaper = options.shaper;
  emulated.seed = options.seed;
  std::vector<double> steps;
  sim::Cluster twin;
  try {
    const auto executor = emulator::make_emulator(c.cluster, emulated);
    const auto goes_on = [&] {
      const auto taken = static_cast<int>(steps.size());
      if (taken < options.steps) return true;
      const double so_far = std::accumulate(steps.begin(), steps.end(), 0.0);
      return c.lossy && taken < kMostLossySteps && so_far < kLossyTime;
    };
    while (goes_on()) steps.push_back(run_step(*executor, c));
    outcome.invalid = executor->why_invalid();
    outcome.late_99 = executor->links().late_99;
    twin = as_emulated(c.cluster, executor->report());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCapability) throw;
    outcome.refused = error.what();
    return outcome;
  }
  outcome.emulated = mean_of(steps);
  outcome.spread = spread_of(steps);
  outcome.steps = static_cast<int>(steps.size());
  std::vector<double> means;
  for (int run = 0; run < (c.lossy ? kFlowRuns : 1); ++run)
    means.push_back(mean_of(
        flow_steps(c, twin, outcome.steps, options.seed + static_cast<std::uint64_t>(run))));
  outcome.flow = mean_of(means);
  return outcome;
}

std::string summary_of(const EmulationCase& c, const Outcome& outcome) {
  if (!outcome.refused.empty()) return "  " + c.name + ": refused: " + outcome.refused;
  char text[200];
  std::snprintf(text, sizeof text,
                ": emulated %.1f ms (+-%.1f %% of %d), flow %.1f ms, error %.1f %%, late %.0f us",
                1e3 * outcome.emulated, 100 * outcome.spread, outcome.steps, 1e3 * outcome.flow,
                100 * (outcome.flow / outcome.emulated - 1), 1e6 * outcome.late_99);
  const std::string line = "  " + c.name + text;
  return outcome.invalid.empty() ? line : line + "; invalid: " + outcome.invalid;
}

void add_errors(const std::string& regime, const std::vector<double>& errors, double bar,
                std::vector<BenchRow>& rows) {
  const std::string name = "emulation." + regime;
  rows.push_back({.name = name + ".cases",
                  .value = static_cast<double>(errors.size()),
                  .unit = "",
                  .provenance = "measured"});
  if (errors.empty()) return;
  rows.push_back(
      {.name = name + ".median_error", .value = median_of(errors), .unit = "1", .bar = bar});
  rows.push_back({.name = name + ".p90_error", .value = quantile_of(errors, 0.9), .unit = "1"});
  rows.push_back({.name = name + ".worst_error",
                  .value = *std::max_element(errors.begin(), errors.end()),
                  .unit = "1"});
}

}  // namespace

std::vector<BenchRow> bench_emulation(const EmulationOptions& options, const Say& say) {
  std::vector<BenchRow> rows;
  if (options.links) {
    rows = bench_link_process(options.seed, say);
    for (BenchRow& row : bench_gloo(say)) rows.push_back(std::move(row));
  }
  std::vector<double> clean, lossy;
  int refused = 0, invalid = 0;
  for (int number = options.first; number < options.first + options.cases; ++number) {
    const EmulationCase c = draw_emulation_case(options.seed, number);
    const Outcome outcome = run_case(c, options);
    say(summary_of(c, outcome));
    refused += outcome.refused.empty() ? 0 : 1;
    invalid += outcome.invalid.empty() ? 0 : 1;
    if (outcome.counts()) (c.lossy ? lossy : clean).push_back(outcome.error());
  }
  add_errors("clean", clean, 0.03, rows);
  add_errors("lossy", lossy, 0.15, rows);
  const double all = std::max(1, options.cases);
  rows.push_back({.name = "emulation.refused",
                  .value = refused / all,
                  .unit = "of all cases",
                  .provenance = "measured"});
  rows.push_back({.name = "emulation.invalid",
                  .value = invalid / all,
                  .unit = "of all cases",
                  .provenance = "measured"});
  rows.push_back({.name = "emulation.refused_or_invalid",
                  .value = (refused + invalid) / all,
                  .unit = "of all cases",
                  .bar = 0.1,
                  .provenance = "measured"});
  return labelled(std::move(rows), "simulated");
}

}  // namespace gradwire::bench
