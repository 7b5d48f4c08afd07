#include "bench/fidelity/linux_fidelity.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "base/error.h"
#include "bench/fidelity/kernel.h"
#include "bench/fidelity/linux_comparison.h"
#include "bench/fidelity/linux_regimes.h"
#include "bench/fidelity/statistics.h"
#include "bench/rows/timing.h"
#include "sim/transport/calibration.h"

namespace gradwire::bench {
namespace {

constexpr double kTotalLimit = 240;  // s
/// Of what one flow was seen to hold: what several that are busy at once may ask for.
constexpr double kShareOfReach = 0.6;
constexpr double kMostRate = 500e6;
constexpr int kLeastTransfers = 100;

using Results = std::vector<LinuxComparison>;

struct Regime {
  std::string name;
  std::vector<FidelityCase> (*cases)(std::uint64_t seed, int count, double rate);
  LinuxComparison (*compare)(const FidelityCase& c, double limit_s);
  bool lossy = false;
  double weight = 1;  ///< of the time
};

std::vector<Regime> regimes() {
  return {{"clean-lan", linux_lan_cases, compare_linux_clean},
          {"clean-wan", linux_wan_cases, compare_linux_clean},
          {"sharing", linux_sharing_cases, compare_linux_clean},
          {"lossy", linux_lossy_cases, compare_linux_lossy, true, 6},
          {"short-lossy", linux_short_lossy_cases, compare_linux_lossy, true, 2}};
}

std::string summary_of(const LinuxComparison& c) {
  char text[200];
  if (c.spoilt) return "  " + c.name + ": left out, the links were late";
  std::snprintf(text, sizeof text, "  %-50s kernel %8.2f ms, flow %8.2f ms, error %5.1f %%",
                c.name.c_str(), 1e3 * c.kernel, 1e3 * c.flow, 100 * median_of(c.errors));
  std::string line = text;
  if (c.kernel_error > 0) {
    std::snprintf(text, sizeof text, ", q50 %.1f %%, q90 %.1f %%, %d transfers, se %.1f %%",
                  100 * c.quantile_50, 100 * c.quantile_90, c.transfers, 100 * c.kernel_error);
  } else {
    std::snprintf(text, sizeof text, ", first %.1f %%, worst %.1f %%", 100 * c.errors.front(),
                  100 * *std::max_element(c.errors.begin(), c.errors.end()));
    if (c.disturbed > 0)
      return line + text + ", " + std::to_string(c.disturbed) + " of " +
             std::to_string(c.transfers) + " repetitions disturbed";
  }
  return line + text;
}

std::vector<double> each(const Results& results, double LinuxComparison::*field) {
  std::vector<double> values;
  for (const LinuxComparison& c : results) values.push_back(c.*field);
  return values;
}

void add_rows(const Regime& regime, const Results& results, std::vector<BenchRow>& rows) {
  const std::string name = "fidelity.linux." + regime.name;
  const auto add = [&](const char* what, double value, std::optional<double> bar) {
    rows.push_back({.name = name + what, .value = value, .unit = "1", .bar = bar});
  };
  std::vector<double> errors;
  for (const LinuxComparison& c : results)
    errors.insert(errors.end(), c.errors.begin(), c.errors.end());
  if (!regime.lossy) {
    add(".median_error", median_of(errors), 0.03);
    add(".p90_error", quantile_of(errors, 0.9), std::nullopt);
    add(".worst_error", *std::max_element(errors.begin(), errors.end()), 0.03);
    int disturbed = 0, made = 0;
    for (const LinuxComparison& c : results) disturbed += c.disturbed, made += c.transfers;
    rows.push_back({.name = name + ".disturbed_repetitions",
                    .value = static_cast<double>(disturbed),
                    .unit = "of " + std::to_string(made),
                    .provenance = "emulated"});
    return;
  }
  add(".median_error_of_mean", median_of(errors), 0.15);
  add(".p90_error_of_mean", quantile_of(errors, 0.9), std::nullopt);
  add(".median_error_of_q50", median_of(each(results, &LinuxComparison::quantile_50)),
      std::nullopt);
  add(".median_error_of_q90", median_of(each(results, &LinuxComparison::quantile_90)),
      std::nullopt);
  add(".median_standard_error_of_kernel", median_of(each(results, &LinuxComparison::kernel_error)),
      std::nullopt);
}

bool is_wanted(const FidelityOptions& options, const std::string& name) {
  const auto& wanted = options.regimes;
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

/// What is left of the time for each regime that is still to come, by weight, then for each case.
class Budget {
 public:
  Budget(double total_s, const std::vector<Regime>& regimes) : end_(now_s() + total_s) {
    for (const Regime& regime : regimes) weights_ += regime.weight;
  }
  void begin(const Regime& regime, int cases) {
    cases_ = cases;
    regime_end_ = now_s() + (end_ - now_s()) * regime.weight / weights_;
    weights_ -= regime.weight;
  }
  /// 0: none is left.
  double next_case() { return std::max(0.0, (regime_end_ - now_s()) / std::max(1, cases_--)); }

 private:
  double end_;
  double regime_end_ = 0;
  double weights_ = 0;
  int cases_ = 0;
};

Results run(const Regime& regime, const FidelityOptions& options, double rate, Budget& budget,
            const Say& say) {
  Results results;
  auto cases = regime.cases(options.seed, options.cases, rate);
  const sim::TcpConstants constants = sim::find_calibration(options.calibration).constants;
  for (FidelityCase& c : cases) c.experiment.options.transport.constants = constants;
  budget.begin(regime, static_cast<int>(cases.size()));
  int left_out = 0;
  for (const FidelityCase& c : cases) {
    const double limit = budget.next_case();
    if (limit <= 0) {
      ++left_out;
      continue;
    }
    results.push_back(regime.compare(c, std::max(1.0, std::min(limit, options.case_limit_s))));
    say(summary_of(results.back()));
    // Those that ended in time would be the quick ones.
    const bool few = regime.lossy && results.back().transfers < kLeastTransfers;
    if (few) say("    left out: fewer than 100 transfers in time");
    if (results.back().spoilt || few) results.pop_back();
  }
  if (left_out > 0) say("  " + std::to_string(left_out) + " cases left out: no time");
  return results;
}

}  // namespace

std::vector<std::string> linux_fidelity_regimes() {
  std::vector<std::string> names;
  for (const Regime& regime : regimes()) names.push_back(regime.name);
  return names;
}

std::vector<BenchRow> bench_linux_fidelity(const FidelityOptions& options, const Say& say) {
  if (options.bbr)
    throw Error(ErrorKind::kCapability, "compare flow with", "the kernel's BBR",
                "flow does not model it (--calibration linux is without)",
                "leave out --bbr, or --against linux");
  const KernelReach reach = measure_kernel_reach();
  const double rate = std::min(kMostRate, kShareOfReach * reach.rate);
  char text[160];
  std::snprintf(text, sizeof text,
                "%s: links of 0.5 ms hold %.0f Mbps (frames late by %.0f us, 1 %% by %.0f us, "
                "priority %s); cases ask for %.0f Mbps at most",
                reach.kernel.c_str(), reach.rate / 1e6, 1e6 * reach.late_50, 1e6 * reach.late_99,
                reach.priority.c_str(), rate / 1e6);
  say(text);
  std::vector<BenchRow> rows = {
      {.name = "fidelity.linux.held_rate", .value = reach.rate / 1e6, .unit = "Mbps"},
      {.name = "fidelity.linux.late_99", .value = 1e6 * reach.late_99, .unit = "us"}};
  rows = labelled(std::move(rows), "measured");
  std::vector<Regime> wanted;
  for (const Regime& regime : regimes())
    if (is_wanted(options, regime.name)) wanted.push_back(regime);
  Budget budget(options.total_limit_s.value_or(kTotalLimit), wanted);
  for (const Regime& regime : wanted) {
    say(regime.name);
    const Results results = run(regime, options, rate, budget, say);
    rows.push_back({.name = "fidelity.linux." + regime.name + ".cases",
                    .value = static_cast<double>(results.size()),
                    .unit = "",
                    .bar = options.cases,
                    .at_most = false});
    if (!results.empty()) add_rows(regime, results, rows);
  }
  return labelled(std::move(rows), "simulated");
}

}  // namespace gradwire::bench
