#include "bench/packet/packet_cases.h"

#include "bench/flow/flow_cases.h"
#include "bench/rows/timing.h"
#include "sim/cluster/topologies/topologies.h"
#include "sim/executors.h"
#include "sim/packet/packet_estimate.h"
#include "sim/packet/packet_executor.h"

namespace gradwire::bench {
namespace {

sim::LinkSpec link(double rate, double delay_s, double loss = 0) {
  sim::LinkSpec spec;
  spec.rate = BitsPerSecond(rate);
  spec.delay = Seconds(delay_s);
  spec.loss = loss;
  return spec;
}

sim::GraphPtr ring(int workers, std::int64_t elements) {
  sim::GraphBuilder builder;
  builder.add_collective(ring_of(workers, elements), "ring");
  return builder.finish();
}

/// Hosts 0, 1, ... all send to the last.
sim::GraphPtr senders(int count) {
  sim::GraphBuilder builder;
  for (int host = 0; host < count; ++host)
    builder.add_transfer(host, count, "transfer", sim::TransferMeaning{});
  return builder.finish();
}

/// 12 Mbps, with nothing in the last tenth of each second.
sim::LinkSpec mobile_link() {
  std::vector<std::uint32_t> instants;
  for (std::uint32_t ms = 1; ms <= 900; ++ms) instants.push_back(ms);
  instants.push_back(1000);
  sim::LinkSpec spec = link(12e6, 20e-3);
  spec.schedule = spec.schedule_back = sim::RateSchedule::from_opportunities("mobile", instants);
  return spec;
}

/// Eight stations, 10 to 45 m (Wi-Fi) or 50 to 190 m (LTE) from the base, and a server behind it.
sim::Cluster cell(sim::Cell::Kind kind) {
  const bool wifi = kind == sim::Cell::Kind::kWifi;
  sim::Cluster cluster;
  sim::Cell plan;
  plan.kind = kind;
  plan.width = wifi ? 80e6 : 10e6;
  for (int i = 0; i < 8; ++i)
    plan.stations.push_back(
        {cluster.add_host("station" + std::to_string(i)), wifi ? 10.0 + 5 * i : 50.0 + 20 * i, 0});
  plan.base = cluster.add_switch("base");
  const sim::NodeId server = cluster.add_host("server");
  cluster.add_cell(plan);
  cluster.add_link(plan.base, server, link(1e9, 1e-3));
  cluster.finish(true);
  return cluster;
}

Seconds run_once(sim::Executor& executor, const sim::GraphPtr& graph,
                 const std::vector<Bytes>& bytes) {
  const std::vector<Seconds> seconds(graph->size());
  const sim::GraphId id = executor.submit(
      {.graph = graph, .bytes = bytes, .seconds = seconds, .not_before = executor.now()});
  const sim::Timeline& timeline = sim::run_to_end(executor, id);
  return timeline.end - timeline.start;
}

}  // namespace

PacketRun run_packet(const PacketCase& c, int steps) {
  const double start = now_s();
  PacketRun result;
  {
    const auto executor = sim::make_packet_executor(c.cluster, {});
    for (int step = 0; step < steps; ++step)
      result.simulated_s += run_once(*executor, c.graph, c.bytes).value();
    result.events = static_cast<double>(sim::packet_statistics(*executor).events);
  }
  result.wall_s = now_s() - start;
  return result;
}

PacketRun run_packet_ring(int workers, std::int64_t elements) {
  return run_packet({"ring", sim::Cluster::star(workers, {}), ring(workers, elements), {}}, 1);
}

double warm_ring_s(const std::string& name, int workers, std::int64_t elements) {
  const auto executor = sim::make_executor(name, sim::Cluster::star(workers, {}), {});
  const sim::GraphPtr graph = ring(workers, elements);
  run_once(*executor, graph, {});
  return run_once(*executor, graph, {}).value();
}

std::vector<PacketCase> forecast_cases() {
  const sim::LinkSpec lan = link(1e9, 50e-6);
  std::vector<PacketCase> cases;
  cases.push_back({"ring_n8_4mb", sim::Cluster::star(8, lan), ring(8, 1'000'000), {}});
  cases.push_back({"ring_n16_400kb", sim::Cluster::star(16, lan), ring(16, 100'000), {}});
  cases.push_back(
      {"path_10mb", sim::Cluster::star(2, link(1e8, 20e-3)), senders(1), {Bytes(10'000'000)}});
  cases.push_back({"lossy_path_10mb",
                   sim::Cluster::star(2, link(1e8, 10e-3, 0.005)),
                   senders(1),
                   {Bytes(10'000'000)}});
  cases.push_back({"incast_n8_1mb", sim::Cluster::star(8, lan, true), senders(8),
                   std::vector<Bytes>(8, Bytes(1'000'000))});
  cases.push_back({"fat_tree_n16_1mb", sim::fat_tree({16, 4, lan, lan}), ring(16, 250'000), {}});
  cases.push_back({"mobile_n2_5mb", sim::Cluster::star(2, mobile_link(), true, lan), senders(2),
                   std::vector<Bytes>(2, Bytes(5'000'000))});
  cases.push_back({"wifi_n8_1mb", cell(sim::Cell::Kind::kWifi), senders(8),
                   std::vector<Bytes>(8, Bytes(1'000'000))});
  cases.push_back({"lte_n8_500kb", cell(sim::Cell::Kind::kLte), senders(8),
                   std::vector<Bytes>(8, Bytes(500'000))});
  return cases;
}

sim::PacketWork work_of(const PacketCase& c) {
  const std::vector<Seconds> seconds(c.graph->size());
  return sim::packet_work(c.cluster, {}, {.graph = c.graph, .bytes = c.bytes, .seconds = seconds});
}

}  // namespace gradwire::bench
