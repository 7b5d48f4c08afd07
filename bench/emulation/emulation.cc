#include "bench/emulation/emulation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "bench/emulation/gloo_rows.h"
#include "bench/emulation/link_rows.h"
#include "bench/emulation/steps.h"
#include "bench/fidelity/statistics.h"
#include "emulator/emulator.h"

namespace gradwire::bench {
namespace {

constexpr int kFlowRuns = 8;  ///< of a lossy case: their mean is what flow says

// Of a lossy case steps go on from each other's windows: a few dozen of them are one draw, of which
// another seed's may be twice as long. It takes several emulations, each with as many steps as this
// has room for.
constexpr int kLossyRuns = 3;
constexpr double kLossyTime = 8;  // s, of one
constexpr int kMostLossySteps = 150;

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

/// One emulation of the case: steps, as many as `least` or as a lossy one has room for.
std::vector<double> emulated_steps(const EmulationCase& c, int least,
                                   const emulator::EmulatorOptions& options, Outcome& outcome,
                                   sim::Cluster& twin) {
  const auto executor = emulator::make_emulator(c.cluster, options);
  std::vector<double> steps;
  double so_far = 0;
  const auto goes_on = [&] {
    const auto taken = static_cast<int>(steps.size());
    return taken < least || (c.lossy && taken < kMostLossySteps && so_far < kLossyTime);
  };
  while (goes_on()) so_far += steps.emplace_back(run_step(*executor, c));
  if (outcome.invalid.empty()) outcome.invalid = executor->why_invalid();
  outcome.late_99 = std::max(outcome.late_99, executor->links().late_99);
  outcome.steps += static_cast<int>(steps.size());
  twin = as_emulated(c.cluster, executor->report());
  return steps;
}

Outcome run_case(const EmulationCase& c, const EmulationOptions& options) {
  Outcome outcome;
  emulator::EmulatorOptions emulated;
  emulated.transport = emulation_transport();
  emulated.shaper = options.shaper;
  const int runs = c.lossy ? kLossyRuns : 1;
  std::vector<double> steps, emulated_means, means;
  sim::Cluster twin;
  try {
    for (int run = 0; run < runs; ++run) {
      emulated.seed = options.seed + static_cast<std::uint64_t>(run);
      steps = emulated_steps(c, (options.steps + runs - 1) / runs, emulated, outcome, twin);
      emulated_means.push_back(mean_of(steps));
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCapability) throw;
    outcome.refused = error.what();
    return outcome;
  }
  outcome.emulated = mean_of(emulated_means);
  outcome.spread = relative_error_of(runs > 1 ? emulated_means : steps);
  for (int run = 0; run < (c.lossy ? kFlowRuns : 1); ++run)
    means.push_back(mean_of(
        flow_steps(c, twin, outcome.steps / runs, options.seed + static_cast<std::uint64_t>(run))));
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
