#include "bench/flow.h"

#include <numeric>

#include "bench/timing.h"
#include "sim/executor.h"

namespace gradwire::bench {
namespace {

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
  const double start = now_s();
  const auto executor = sim::make_executor("flow", sim::Cluster::star(workers, {}), {});
  const sim::GraphPtr graph = ring_graph(workers);
  const std::vector<Seconds> seconds(graph->size());
  const sim::GraphId id = executor->submit({.graph = graph, .bytes = {}, .seconds = seconds});
  transfers = sim::run_to_end(*executor, id).ops.front().transfers;
  return now_s() - start;
}

}  // namespace

std::vector<BenchRow> bench_flow(const Say& say) {
  std::vector<BenchRow> rows;
  for (const int workers : {16, 64, 256}) {
    say("ring all-reduce of " + std::to_string(workers) + " workers ...");
    std::int64_t transfers = 0;
    const double wall = ring_seconds(workers, transfers);
    const std::string name = "flow.ring.n" + std::to_string(workers);
    rows.push_back({.name = name + ".wall_s", .value = wall, .unit = "s"});
    rows.push_back({.name = name + ".transfers_per_second",
                    .value = static_cast<double>(transfers) / wall,
                    .unit = "1/s"});
  }
  return rows;
}

}  // namespace gradwire::bench
