#include <chrono>
#include <numeric>

#include "cli/bench.h"
#include "sim/executor.h"

namespace gradwire::cli {
namespace {

using Clock = std::chrono::steady_clock;

sim::GraphPtr ring_graph(int workers) {
  sim::CollectiveSpec spec;
  spec.members.resize(static_cast<std::size_t>(workers));
  std::iota(spec.members.begin(), spec.members.end(), 0);
  spec.elements = 1'000'000;
  sim::GraphBuilder builder;
  builder.add_collective(std::move(spec), "ring");
  return builder.finish();
}

/// Seconds of wall clock for one ring all-reduce of 4 MB on a 1 Gbps star.
double ring_seconds(int workers, std::int64_t& transfers) {
  const auto start = Clock::now();
  const auto executor = sim::make_executor("flow", sim::Cluster::star(workers, {}), {});
  const sim::GraphPtr graph = ring_graph(workers);
  const std::vector<Seconds> seconds(graph->size());
  const sim::GraphId id = executor->submit({.graph = graph, .bytes = {}, .seconds = seconds});
  transfers = sim::run_to_end(*executor, id).ops.front().transfers;
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::vector<BenchRow> bench_flow(std::uint64_t, const Context& context) {
  std::vector<BenchRow> rows;
  for (const int workers : {16, 64, 256}) {
    context.say("ring all-reduce of " + std::to_string(workers) + " workers ...");
    std::int64_t transfers = 0;
    const double wall = ring_seconds(workers, transfers);
    const std::string name = "flow.ring.n" + std::to_string(workers);
    rows.push_back({name + ".wall_s", wall, "s", {}, true});
    rows.push_back(
        {name + ".transfers_per_second", static_cast<double>(transfers) / wall, "1/s", {}, false});
  }
  return rows;
}

}  // namespace gradwire::cli
