#include "bench/flow/flow.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "bench/flow/flow_cases.h"
#include "bench/flow/simgrid_peer.h"
#include "bench/rows/peak_alone.h"

namespace gradwire::bench {
namespace {

constexpr std::int64_t kElements = 1 << 20;  // 4 MiB: equal chunks for every power of two
constexpr std::int64_t kUneven = 1'000'000;  // chunks that differ by one element
constexpr double kMemoryBase = 64e6;         // bytes
constexpr double kMemoryPerTransfer = 2000;  // bytes, of each that is under way at a time
constexpr double kLongEnough = 4.0;          // s of repetitions of one case
constexpr int kMostRepetitions = 20;

struct Case {
  std::string name;
  std::function<FlowRun()> run;
  double concurrent = 0;                  ///< transfers
  std::optional<double> bar = {};         ///< s
  std::optional<double> memory_bar = {};  ///< bytes; else by `concurrent`
  std::optional<std::int64_t> peak = {};
};

std::vector<Case> ring_cases() {
  std::vector<Case> cases;
  for (const int n : {64, 256, 1024, 4096}) {
    const std::optional<double> bar = n == 1024 ? std::optional(0.3) : std::nullopt;
    const std::string name = "ring.n" + std::to_string(n);
    cases.push_back({name, [n] { return run_ring(n, kElements); }, double(n), bar});
    if (kUneven % n == 0) continue;
    cases.push_back({name + ".uneven", [n] { return run_ring(n, kUneven); }, double(n), bar});
  }
  return cases;
}

std::vector<Case> other_cases() {
  std::vector<Case> cases;
  cases.push_back(
      {"fat_tree.two_level.n4096", [] { return run_two_level(4096, kElements); }, 4096});
  cases.push_back({"all_to_all.n256", [] { return run_all_to_all(256); }, 256.0 * 255});
  // The server's link limits every client, some of them, or none.
  for (const auto& [name, rate] : {std::pair("10g", 10e9), {"100g", 100e9}, {"1t", 1e12}})
    cases.push_back({std::string("federated.n10000.server_") + name,
                     [rate] { return run_federated(10000, rate); }, 10000, 1.0});
  return cases;
}

std::vector<Case> folded_cases() {
  constexpr std::int64_t kGradient = 1 << 26;  // 256 MiB: equal chunks for 16,384 machines
  return {{.name = "ring.n256.folded",
           .run = [] { return run_ring(256, kElements, Fold::kOn); },
           .concurrent = 256},
          {.name = "two_level.n131072.folded",
           .run = [] { return run_machines(131'072, kGradient, Fold::kOn); },
           .bar = 10.0,
           .memory_bar = 4e9}};
}

double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    worst = std::max(worst, std::abs(a[i] - b[i]) / b[i]);
  return worst;
}

/// The largest difference of a rank's end, folded and not.
BenchRow folded_error(const Say& say) {
  say("flow.folded_error ...");
  double worst = 0;
  for (const auto& run :
       {std::function([](Fold fold) { return run_ring(256, kElements, fold); }),
        std::function([](Fold fold) { return run_ring(96, 96'032, fold); }),
        std::function([](Fold fold) { return run_machines(1024, kElements, fold); })})
    worst =
        std::max(worst, relative_difference(run(Fold::kOn).rank_ends, run(Fold::kOff).rank_ends));
  return {.name = "flow.folded_error", .value = worst, .unit = "", .bar = 1e-9};
}

/// What each holds by itself: of processes that have held nothing before.
void find_peaks(std::vector<Case>& cases, const Say& say) {
  for (Case& c : cases) {
    say("memory of flow." + c.name + " ...");
    c.peak = peak_alone([&] { c.run(); });
  }
}

/// The quickest of some runs.
FlowRun measure(const Case& c) {
  FlowRun best = c.run();
  double spent = best.wall_s;
  for (int i = 1; i < kMostRepetitions && spent < kLongEnough; ++i) {
    const FlowRun again = c.run();
    spent += again.wall_s;
    if (again.wall_s < best.wall_s) best = again;
  }
  return best;
}

FlowRun add_rows(const Case& c, const Say& say, std::vector<BenchRow>& rows) {
  say("flow." + c.name + " ...");
  const FlowRun best = measure(c);
  const std::string name = "flow." + c.name;
  rows.push_back({.name = name + ".wall_s", .value = best.wall_s, .unit = "s", .bar = c.bar});
  rows.push_back({.name = name + ".transfers_per_second",
                  .value = static_cast<double>(best.transfers) / best.wall_s,
                  .unit = "1/s"});
  if (c.peak) {
    rows.push_back({.name = name + ".peak_memory",
                    .value = static_cast<double>(*c.peak),
                    .unit = "B",
                    .bar = c.memory_bar.value_or(kMemoryBase + kMemoryPerTransfer * c.concurrent)});
  }
  return best;
}

double seconds_a_transfer(const FlowRun& run) {
  return run.wall_s / static_cast<double>(run.transfers);
}

void add_rings(const std::vector<Case>& cases, const Say& say, std::vector<BenchRow>& rows) {
  std::map<std::string, double> cost;  // s a transfer
  for (const Case& c : cases) cost[c.name] = seconds_a_transfer(add_rows(c, say, rows));
  rows.push_back({.name = "flow.ring.cost_growth_n64_to_n4096",
                  .value = cost.at("ring.n4096") / cost.at("ring.n64"),
                  .unit = "",
                  .bar = 2});
}

/// SimGrid's best of both ways to write a ring there, and ours, in turns. Rows that are skipped
/// where SimGrid is not there: nobody takes what was not measured for what holds.
void add_simgrid(const Say& say, std::vector<BenchRow>& rows) {
  constexpr int kWorkers = 256;
  constexpr int kRounds = 12;  // seconds apart: shared machines have slow ones
  const bool there = has_simgrid_peer();
  say(there ? "flow.ring.n256 beside SimGrid ..." : "flow.ring.n256 without SimGrid");
  double actors = 0, comms = 0, ours = 0, folded = 0;
  for (int round = 0; there && round < kRounds; ++round) {
    actors = std::max(actors, simgrid_ring("actors", kWorkers, 4 * kElements / kWorkers));
    comms = std::max(comms, simgrid_ring("comms", kWorkers, 4 * kElements / kWorkers));
    for (int i = 0; i < 4; ++i) {
      ours = std::max(ours, 1 / seconds_a_transfer(run_ring(kWorkers, kElements)));
      folded = std::max(folded, 1 / seconds_a_transfer(run_ring(kWorkers, kElements, Fold::kOn)));
    }
  }
  const std::string why =
      there ? "" : "gradwire-bench-simgrid was not built (package libsimgrid-dev)";
  const std::string name = "flow.ring.n256.simgrid_cm02_";
  for (const auto& [way, speed] : {std::pair("actors", actors), std::pair("comms", comms)})
    rows.push_back({.name = name + way + ".transfers_per_second",
                    .value = speed,
                    .unit = "1/s",
                    .skipped = why});
  for (const auto& [which, speed, bar] :
       {std::tuple("", ours, 20.0), std::tuple("folded.", folded, 100.0)})
    rows.push_back({.name = std::string("flow.ring.n256.") + which + "ratio_to_simgrid",
                    .value = there ? speed / std::max(actors, comms) : 0,
                    .unit = "",
                    .bar = bar,
                    .at_most = false,
                    .skipped = why});
}

}  // namespace

std::vector<BenchRow> bench_flow(const Say& say) {
  std::vector<Case> rings = ring_cases(), others = other_cases(), folded = folded_cases();
  find_peaks(rings, say);
  find_peaks(others, say);
  find_peaks(folded, say);
  std::vector<BenchRow> rows;
  add_rings(rings, say, rows);
  add_simgrid(say, rows);
  for (const Case& c : others) add_rows(c, say, rows);
  for (const Case& c : folded) add_rows(c, say, rows);
  rows.push_back(folded_error(say));
  return labelled(std::move(rows), "measured");
}

}  // namespace gradwire::bench
