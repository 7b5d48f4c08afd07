#include "bench/fidelity/fidelity.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string_view>

#include "base/error.h"
#include "bench/fidelity/case_parts.h"
#include "bench/fidelity/comparison.h"
#include "bench/fidelity/spending.h"
#include "bench/fidelity/statistics.h"
#include "bench/timing.h"

namespace gradwire::bench {
namespace {

using Comparisons = std::vector<Comparison>;

constexpr std::string_view kBbr = "bbr-";  // regimes of the same cases with it
constexpr double kTotalLimit = 1120;       // s: 20 minutes with what else there is to do

struct Regime {
  std::string name;
  std::function<std::vector<FidelityCase>(const FidelityOptions&)> cases;
  Job::Kind kind;
  std::function<void(const std::string&, const Comparisons&, std::vector<BenchRow>&)> rows;
};

std::vector<double> all_errors(const Comparisons& results) {
  std::vector<double> errors;
  for (const Comparison& c : results) errors.insert(errors.end(), c.errors.begin(), c.errors.end());
  return errors;
}

/// The largest error; one whose difference is at most `allowance(case)` seconds counts as none.
double worst(const Comparisons& results,
             const std::function<double(const Comparison&)>& allowance) {
  double largest = 0;
  for (const Comparison& c : results)
    for (std::size_t i = 0; i < c.errors.size(); ++i)
      if (c.differences[i] > allowance(c)) largest = std::max(largest, c.errors[i]);
  return largest;
}

/// ... where the allowance comes off every difference.
double worst_beyond(const Comparisons& results) {
  double largest = 0;
  for (const Comparison& c : results)
    for (std::size_t i = 0; i < c.errors.size(); ++i) {
      const double reference = c.differences[i] / std::max(c.errors[i], 1e-300);
      largest = std::max(largest, (c.differences[i] - c.round_trip) / reference);
    }
  return largest;
}

std::vector<double> each(const Comparisons& results, double Comparison::*field) {
  std::vector<double> values;
  for (const Comparison& c : results) values.push_back(c.*field);
  return values;
}

void add_row(std::vector<BenchRow>& rows, std::string name, double value, double bar) {
  rows.push_back({.name = std::move(name), .value = value, .unit = "1", .bar = bar});
}

void random_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  const auto errors = each(results, &Comparison::reference_error);
  add_row(rows, name + ".reference_standard_error", *std::max_element(errors.begin(), errors.end()),
          0.03);
}

void clean_lan_rows(const std::string& name, const Comparisons& results,
                    std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.005);
  add_row(rows, name + ".worst_error", worst(results, [](const auto&) { return 100e-6; }), 0.03);
}

void sharing_rows(const std::string& name, const Comparisons& results,
                  std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.01);
  add_row(rows, name + ".worst_error_beyond_a_round_trip", worst_beyond(results), 0.03);
}

/// BBR's flows share as well in the middle, but not always: the worst is told without a bar.
void bbr_sharing_rows(const std::string& name, const Comparisons& results,
                      std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.01);
  rows.push_back({.name = name + ".worst_error_beyond_a_round_trip",
                  .value = worst_beyond(results),
                  .unit = "1"});
}

void clean_wan_rows(const std::string& name, const Comparisons& results,
                    std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.01);
  add_row(rows, name + ".worst_error", worst(results, [](const auto&) { return 0.0; }), 0.05);
}

void lossy_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  const std::vector<double> errors = all_errors(results);
  add_row(rows, name + ".median_error_of_mean", median_of(errors), 0.05);
  add_row(rows, name + ".p90_error_of_mean", quantile_of(errors, 0.9), 0.15);
  add_row(rows, name + ".median_error_of_q50", median_of(each(results, &Comparison::quantile_50)),
          0.05);
  add_row(rows, name + ".median_error_of_q90", median_of(each(results, &Comparison::quantile_90)),
          0.10);
  random_rows(name, results, rows);
}

/// max(a / b, b / a), of shares of timeouts over all cases.
double timeout_factor(const Comparisons& results) {
  const double a = mean_of(each(results, &Comparison::timeouts));
  const double b = mean_of(each(results, &Comparison::timeouts_flow));
  return a <= 0 && b <= 0 ? 1 : std::max(a / b, b / a);
}

void short_lossy_rows(const std::string& name, const Comparisons& results,
                      std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error_of_q50", median_of(each(results, &Comparison::quantile_50)),
          0.10);
  add_row(rows, name + ".timeout_probability_factor", timeout_factor(results), 1.5);
  random_rows(name, results, rows);
}

void mixed_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  const std::vector<double> errors = all_errors(results);
  add_row(rows, name + ".median_error", median_of(errors), 0.10);
  add_row(rows, name + ".p90_error", quantile_of(errors, 0.9), 0.25);
  random_rows(name, results, rows);
}

void mobile_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.10);
}

void cell_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.15);
}

template <typename Generate>
auto drawn(Generate generate) {
  return [generate](const FidelityOptions& o) { return generate(o.seed, o.cases); };
}

/// The same cases with BBR.
template <typename Generate>
auto with_bbr(Generate generate) {
  return [generate](const FidelityOptions& o) {
    std::vector<FidelityCase> cases = generate(o.seed, o.cases);
    for (FidelityCase& c : cases) use_bbr(c.experiment);
    return cases;
  };
}

std::vector<Regime> regimes() {
  constexpr Job::Kind kClean = Job::Kind::kClean, kPooled = Job::Kind::kPooled,
                      kByChain = Job::Kind::kByChain;
  return {
      {"clean-lan", drawn(clean_lan_cases), kClean, clean_lan_rows},
      {"sharing", drawn(sharing_cases), kClean, sharing_rows},
      {"clean-wan", drawn(clean_wan_cases), kClean, clean_wan_rows},
      {"lossy", drawn(lossy_cases), kPooled, lossy_rows},
      {"short-lossy", drawn(short_lossy_cases), kPooled, short_lossy_rows},
      {"mixed", drawn(mixed_cases), kByChain, mixed_rows},
      {"mobile", [](const FidelityOptions& o) { return mobile_cases(o.seed, o.cases, o.traces); },
       kClean, mobile_rows},
      {"bbr-clean-lan", with_bbr(clean_lan_cases), kClean, clean_lan_rows},
      {"bbr-sharing", with_bbr(sharing_cases), kClean, bbr_sharing_rows},
      {"bbr-clean-wan", with_bbr(clean_wan_cases), kClean, clean_wan_rows},
      {"bbr-lossy", with_bbr(lossy_cases), kPooled, lossy_rows},
      {"bbr-short-lossy", with_bbr(short_lossy_cases), kPooled, short_lossy_rows},
      {"bbr-mixed", with_bbr(mixed_cases), kByChain, mixed_rows},
      {"wifi", drawn(wifi_cases), kClean, cell_rows},
      {"lte", drawn(lte_cases), kClean, cell_rows},
  };
}

std::string summary_of(const Comparison& c) {
  char text[160];
  std::snprintf(text, sizeof text, "  %-58s error %5.2f %%, worst %5.2f %% (reference %.1f s)",
                c.name.c_str(), 100 * median_of(c.errors),
                100 * *std::max_element(c.errors.begin(), c.errors.end()), c.wall_s);
  std::string line = text;
  if (c.reference_error > 0) {
    std::snprintf(text, sizeof text,
                  ", q50 %.1f %%, q90 %.1f %%, timeouts %.3f/%.3f, %d transfers, se %.1f %%",
                  100 * c.quantile_50, 100 * c.quantile_90, c.timeouts_flow, c.timeouts,
                  c.transfers, 100 * c.reference_error);
    line += text;
  }
  return line;
}

/// What the reference's runs took, by regime, and of how much time.
void say_spent(const std::vector<Regime>& regimes, const std::vector<Comparisons>& results,
               double wall_s, double limit_s, const Say& say) {
  char text[160];
  for (std::size_t r = 0; r < regimes.size(); ++r) {
    double spent = 0, largest = 0;
    for (const Comparison& c : results[r]) {
      spent += c.wall_s;
      largest = std::max(largest, c.reference_error);
    }
    std::snprintf(text, sizeof text, "spent on %-16s %6.1f s", regimes[r].name.c_str(), spent);
    std::string line = text;
    if (largest > 0) {
      std::snprintf(text, sizeof text, ", largest standard error %.1f %%", 100 * largest);
      line += text;
    }
    say(line);
  }
  std::snprintf(text, sizeof text, "%.0f s on two cores; no run begins after %.0f s", wall_s,
                limit_s);
  say(text);
}

/// The jobs of one regime, and what they will cost.
void add_jobs(const Regime& regime, const FidelityOptions& options, Comparisons& results,
              std::vector<Job>& jobs, const Say& say) {
  std::vector<FidelityCase> cases = regime.cases(options);
  results.resize(cases.size());
  double events = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const double of_case = packet_events(cases[i].experiment);
    events += of_case;
    jobs.push_back({regime.kind, regime.name, std::move(cases[i]), of_case, &results[i]});
  }
  char text[120];
  std::snprintf(text, sizeof text, "%s: %zu cases, %.1f million events for one run of each",
                regime.name.c_str(), results.size(), events / 1e6);
  say(text);
}

bool is_wanted(const FidelityOptions& options, const std::string& name) {
  const auto& wanted = options.regimes;
  if (wanted.empty()) return name.starts_with(kBbr) == options.bbr;
  return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

}  // namespace

std::vector<std::string> fidelity_regimes() {
  std::vector<std::string> names;
  for (const Regime& regime : regimes()) names.push_back(regime.name);
  return names;
}

std::vector<BenchRow> bench_fidelity(const FidelityOptions& options, const Say& say) {
  if (options.bbr && !options.regimes.empty())
    throw Error(ErrorKind::kUsage, "choose among", "the regimes with BBR",
                "--bbr takes all of them, --regime some", "name them: --regime bbr-lossy");
  std::vector<Regime> wanted;
  for (Regime& regime : regimes())
    if (is_wanted(options, regime.name)) wanted.push_back(std::move(regime));
  std::vector<Comparisons> results(wanted.size());
  std::vector<Job> jobs;
  for (std::size_t r = 0; r < wanted.size(); ++r)
    add_jobs(wanted[r], options, results[r], jobs, say);
  const double start = now_s();
  const double limit = options.total_limit_s.value_or(kTotalLimit);
  run_jobs(jobs, options.reference, limit,
           [&](const Job& job) { say(job.regime + summary_of(*job.result)); });
  say_spent(wanted, results, now_s() - start, limit, say);
  std::vector<BenchRow> rows;
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    const std::string name = "fidelity." + wanted[r].name;
    rows.push_back({.name = name + ".cases", .value = double(results[r].size()), .unit = ""});
    if (!results[r].empty()) wanted[r].rows(name, results[r], rows);
  }
  return labelled(std::move(rows), "simulated");
}

}  // namespace gradwire::bench
