#include "bench/fidelity/fidelity.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string_view>

#include "base/error.h"
#include "bench/fidelity/case_parts.h"
#include "bench/fidelity/comparison.h"
#include "bench/fidelity/regime_rows.h"
#include "bench/fidelity/spending.h"
#include "bench/fidelity/statistics.h"
#include "bench/rows/timing.h"

namespace gradwire::bench {
namespace {

constexpr std::string_view kBbr = "bbr-";     // regimes of the same cases with it
constexpr std::string_view kLarge = "large";  // minutes, and without the reference
constexpr double kTotalLimit = 1620;          // s: 30 minutes with what else there is to do

struct Regime {
  std::string name;
  std::function<std::vector<FidelityCase>(const FidelityOptions&)> cases;
  Job::Kind kind;
  std::function<void(const std::string&, const Comparisons&, std::vector<BenchRow>&)> rows;
};

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
                      kByChain = Job::Kind::kByChain, kByRun = Job::Kind::kByRun;
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
      {"many", drawn(many_cases), kClean, sharing_rows},
      {"many-lossy", drawn(many_lossy_cases), kByRun, mean_rows},
      {"server", drawn(server_cases), kClean, sharing_rows},
      {"server-lossy", drawn(server_lossy_cases), kByRun, mean_rows},
      {"collectives", drawn(collective_cases), kClean, sharing_rows},
      {"collectives-lossy", drawn(collective_lossy_cases), kByRun, mean_rows},
      {"changing", drawn(changing_cases), kClean, changing_rows},
      {"bursts", drawn(burst_cases), kPooled, burst_rows},
      {"crowded-cells", drawn(crowded_cell_cases), kClean, cell_rows},
      {"extremes", drawn(extreme_cases), kClean, clean_wan_rows},
      {"exact", drawn(exact_cases), kClean, exact_rows},
      {"background", drawn(background_cases), kByRun, mean_rows},
      {"rounds", drawn(round_cases), kClean, sharing_rows},
      {"large", drawn(large_cases), kClean, large_rows},
  };
}

std::string summary_of(const Comparison& c) {
  if (!c.not_compared.empty()) return "  " + c.name + ": not compared, " + c.not_compared;
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
  if (c.chaotic > 0) {
    std::snprintf(text, sizeof text, "; shifted starts move the reference itself by %.0f %%",
                  100 * c.spread);
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

bool is_wanted(const FidelityOptions& options, const std::string& name) {
  const auto& wanted = options.regimes;
  if (wanted.empty()) return name.starts_with(kBbr) == options.bbr && name != kLarge;
  return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

bool is_wanted(const FidelityOptions& options, int number) {
  const auto& wanted = options.numbers;
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), number) != wanted.end();
}

/// The jobs of one regime, and what they will cost.
void add_jobs(const Regime& regime, const FidelityOptions& options, Comparisons& results,
              std::vector<Job>& jobs, const Say& say) {
  std::vector<FidelityCase> cases = regime.cases(options);
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (is_wanted(options, static_cast<int>(i) + 1)) wanted.push_back(i);
  results.resize(wanted.size());
  double events = 0;
  for (std::size_t place = 0; place < wanted.size(); ++place) {
    const std::size_t i = wanted[place];
    if (!cases[i].by_own_packets) cases[i].experiment.options.detail = options.detail;
    const double of_case = packet_events(cases[i].experiment);
    events += of_case;
    jobs.push_back({regime.kind, regime.name, std::move(cases[i]), of_case, &results[place],
                    static_cast<int>(i) + 1});
  }
  char text[120];
  std::snprintf(text, sizeof text, "%s: %zu cases, %.1f million events for one run of each",
                regime.name.c_str(), results.size(), events / 1e6);
  say(text);
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
  run_jobs(jobs, options.reference, limit, [&](const Job& job) {
    say(job.regime + " " + std::to_string(job.number) + summary_of(*job.result));
  });
  say_spent(wanted, results, now_s() - start, limit, say);
  std::vector<BenchRow> rows;
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    const std::string name = "fidelity." + wanted[r].name;
    const auto left_out =
        std::erase_if(results[r], [](const Comparison& c) { return !c.not_compared.empty(); });
    rows.push_back({.name = name + ".cases", .value = double(results[r].size()), .unit = ""});
    if (left_out > 0)
      rows.push_back({.name = name + ".not_compared", .value = double(left_out), .unit = ""});
    const auto chaotic =
        std::ranges::count_if(results[r], [](const Comparison& c) { return c.chaotic > 0; });
    if (chaotic > 0)
      rows.push_back({.name = name + ".chaotic", .value = double(chaotic), .unit = ""});
    if (!results[r].empty()) wanted[r].rows(name, results[r], rows);
  }
  return labelled(std::move(rows), "simulated");
}

}  // namespace gradwire::bench
