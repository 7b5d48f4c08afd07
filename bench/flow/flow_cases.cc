#include "bench/flow/flow_cases.h"

#include <array>
#include <numeric>

#include "base/philox.h"
#include "bench/rows/timing.h"
#include "sim/cluster/topologies/topologies.h"
#include "sim/executors.h"

namespace gradwire::bench {
namespace {

constexpr std::int64_t kMessage = 250'000;   // bytes, of a federated client
constexpr std::int64_t kExchange = 100'000;  // bytes, of a pair in the all-to-all

FlowRun run(double start, const sim::Cluster& cluster, sim::GraphBuilder& builder,
            const std::vector<Bytes>& bytes, Fold fold = Fold::kOff,
            std::optional<sim::Detail> detail = {}) {
  sim::ExecutorOptions options;
  options.detail = detail;
  options.fold = fold == Fold::kOn;
  const auto executor = sim::make_executor("flow", cluster, options);
  const sim::GraphPtr graph = builder.finish();
  std::vector<Seconds> seconds(graph->size());
  for (std::size_t op = 0; op < graph->size(); ++op) {
    if (graph->kind[op] == sim::OpKind::kAggregate) seconds[op] = Seconds(10e-3);
  }
  const sim::GraphId id = executor->submit({.graph = graph, .bytes = bytes, .seconds = seconds});
  const sim::Timeline& timeline = sim::run_to_end(*executor, id);
  FlowRun result;
  for (const sim::OpRecord& op : timeline.ops) result.transfers += op.transfers;
  result.simulated_s = timeline.end.value();
  result.wall_s = now_s() - start;
  for (const std::vector<Seconds>& ranks : timeline.rank_done)
    for (const Seconds end : ranks) result.rank_ends.push_back(end.value());
  return result;
}

sim::CollectiveSpec spec_of(sim::CollectiveKind kind, int workers) {
  sim::CollectiveSpec spec;
  spec.kind = kind;
  spec.members.resize(static_cast<std::size_t>(workers));
  std::iota(spec.members.begin(), spec.members.end(), 0);
  return spec;
}

/// Client c draws words 2c and 2c + 1.
sim::Cluster federation(int clients, double server_bits_per_second) {
  const RandomStream stream{1, 0, 0, kFirstReservedTensor};
  sim::Cluster cluster;
  const sim::NodeId middle = cluster.add_switch("internet");
  for (int c = 0; c < clients; ++c) {
    const auto word = 2 * static_cast<std::uint64_t>(c);
    sim::LinkSpec link;
    link.rate = BitsPerSecond(5e6 + 45e6 * static_cast<double>(uniform(stream, word)));
    link.delay = Seconds(5e-3 + 45e-3 * static_cast<double>(uniform(stream, word + 1)));
    cluster.add_link(cluster.add_host("client" + std::to_string(c)), middle, link);
  }
  sim::LinkSpec link;
  link.rate = BitsPerSecond(server_bits_per_second);
  link.delay = Seconds(1e-3);
  cluster.add_link(cluster.add_host("server"), middle, link);
  cluster.finish(true);
  return cluster;
}

}  // namespace

sim::CollectiveSpec ring_of(int workers, std::int64_t elements) {
  sim::CollectiveSpec spec = spec_of(sim::CollectiveKind::kRingAllReduce, workers);
  spec.elements = elements;
  return spec;
}

FlowRun run_ring(int workers, std::int64_t elements, Fold fold, std::optional<sim::Detail> detail) {
  const double start = now_s();
  sim::GraphBuilder builder;
  builder.add_collective(ring_of(workers, elements), "ring");
  return run(start, sim::Cluster::star(workers, {}), builder, {}, fold, detail);
}

FlowRun run_two_level(int workers, std::int64_t elements) {
  const double start = now_s();
  sim::FatTreePlan plan;
  plan.workers = workers;
  while (sim::fat_tree_room(plan.k) < workers || workers % (plan.k / 2) != 0) plan.k += 2;
  sim::CollectiveSpec spec = spec_of(sim::CollectiveKind::kTwoLevelAllReduce, workers);
  spec.elements = elements;
  spec.group = plan.k / 2;
  sim::GraphBuilder builder;
  builder.add_collective(std::move(spec), "two-level");
  return run(start, sim::fat_tree(plan), builder, {});
}

FlowRun run_machines(int workers, std::int64_t elements, Fold fold) {
  const double start = now_s();
  sim::GpuNodesPlan plan;
  plan.workers = workers;
  plan.intra_link.rate = BitsPerSecond(400e9);
  plan.intra_link.delay = Seconds(1e-6);
  plan.link.rate = BitsPerSecond(100e9);
  plan.link.delay = Seconds(2e-6);
  sim::CollectiveSpec spec = spec_of(sim::CollectiveKind::kTwoLevelAllReduce, workers);
  spec.elements = elements;
  spec.group = plan.per_node;
  sim::GraphBuilder builder;
  builder.add_collective(std::move(spec), "two-level");
  return run(start, sim::gpu_nodes(plan), builder, {}, fold);
}

FlowRun run_all_to_all(int workers) {
  const double start = now_s();
  sim::GraphBuilder builder;
  builder.add_collective(spec_of(sim::CollectiveKind::kAllToAll, workers), "all-to-all");
  return run(start, sim::Cluster::star(workers, {}), builder,
             std::vector<Bytes>(static_cast<std::size_t>(workers), Bytes(kExchange * workers)));
}

FlowRun run_federated(int clients, double server_bits_per_second) {
  const double start = now_s();
  const sim::Cluster cluster = federation(clients, server_bits_per_second);
  sim::CollectiveSpec push = spec_of(sim::CollectiveKind::kPush, clients);
  push.server = clients;
  sim::CollectiveSpec pull = push;
  pull.kind = sim::CollectiveKind::kPull;
  sim::GraphBuilder builder;
  const std::array uploaded{builder.add_collective(std::move(push), "upload")};
  const std::array aggregated{builder.add_operation(sim::OpKind::kAggregate, sim::Lane::kHost,
                                                    clients, "aggregate", uploaded)};
  builder.add_collective(std::move(pull), "download", aggregated);
  return run(start, cluster, builder,
             std::vector<Bytes>(2 * static_cast<std::size_t>(clients), Bytes(kMessage)));
}

}  // namespace gradwire::bench
