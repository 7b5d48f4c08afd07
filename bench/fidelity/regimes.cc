#include "bench/fidelity/regimes.h"

#include <algorithm>
#include <cmath>

#include "bench/fidelity/case_parts.h"
#include "bench/flow/flow_cases.h"
#include "sim/cluster/topologies/topologies.h"

namespace gradwire::bench {
namespace {

/// With a gap between repeats, of 1 ms to `longest` s, and a congestion control.
FidelityCase spaced_out(Draws& draws, FidelityCase result, double longest) {
  result.experiment.gap = Seconds(draws.log_uniform(1e-3, longest));
  draw_control(draws, result.experiment);
  return result;
}

FidelityCase lossy(Draws& draws, Bytes bytes, int chains, int repeats) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(draws.log_uniform(10e6, 1e9));
  const double round_trip = draws.log_uniform(0.2e-3, 80e-3);
  const double loss = draws.log_uniform(1e-3, 2e-2);
  link.loss = 1 - std::sqrt(1 - loss);
  FidelityCase result = pairs(link, round_trip, bytes, chains);
  result.experiment.repeats = repeats;
  return spaced_out(draws, std::move(result), 0.1);
}

FidelityCase ring_case(Draws& draws, const sim::LinkSpec& link, double round_trip, bool tree) {
  const int hosts = tree ? 16 : draws.integer(3, 12);
  const Bytes bytes = draws.bytes(1e5, 4e6);
  FidelityCase result{
      {.name = (tree ? "ring of 16 on a fat tree, " : "ring of " + std::to_string(hosts) + ", ") +
               describe(link, round_trip, 0, bytes),
       .cluster = tree ? sim::fat_tree({16, 4, link, link}) : sim::Cluster::star(hosts, link)},
      round_trip};
  result.experiment.collective = ring_of(hosts, bytes.count() / 4);
  return result;
}

FidelityCase incast_case(Draws& draws, const sim::LinkSpec& link, double round_trip, int senders) {
  return incast_of(senders, link, round_trip, draws.bytes(2e4, 1e6));
}

FidelityCase sharing_case(Draws& draws, int kind) {
  const bool tree = kind == 3;
  sim::LinkSpec link;
  link.rate = BitsPerSecond(draws.log_uniform(100e6, 10e9));
  const int hops = tree ? 6 : 2;
  const double round_trip = draws.log_uniform(0.1e-3, 2e-3);
  link.delay = Seconds(round_trip / (2 * hops));
  if (kind == 0) return incast_case(draws, link, round_trip, 16);
  if (kind == 1) return incast_case(draws, link, round_trip, draws.integer(2, 12));
  return ring_case(draws, link, round_trip, tree);
}

/// Flows of their own round trips and losses through one queue. They lose behind it: there a drop
/// of the queue's moves nothing, as it is sent once more, and a reference and flow of one seed lose
/// the same packets.
FidelityCase mixed_case(Draws& draws) {
  const int flows = draws.integer(3, 8);
  const Bytes bytes = draws.bytes(5e5, 2e6);
  sim::LinkSpec bottleneck;
  bottleneck.rate = BitsPerSecond(draws.log_uniform(20e6, 200e6));
  bottleneck.delay = Seconds(0.5e-3);
  sim::Cluster cluster;
  for (int h = 0; h < 2 * flows; ++h) cluster.add_host("host" + std::to_string(h));
  const sim::NodeId left = cluster.add_switch("left");
  const sim::NodeId right = cluster.add_switch("right");
  cluster.add_link(left, right, bottleneck);
  FidelityCase result{{.name = std::to_string(flows) + " flows through " +
                               words(bottleneck.rate.value() / 1e6, "Mbps"),
                       .cluster = {}},
                      80e-3};
  for (int flow = 0; flow < flows; ++flow) {
    sim::LinkSpec access;
    access.delay = Seconds(draws.log_uniform(5e-3, 80e-3) / 4);
    cluster.add_link(flow, left, access);
    access.loss = draws.log_uniform(1e-3, 1e-2);
    cluster.add_link(flows + flow, right, access);
    result.experiment.chains.push_back({flow, flows + flow, bytes});
  }
  cluster.finish();
  result.experiment.cluster = std::move(cluster);
  result.experiment.repeats = 20;
  result.experiment.gap = Seconds(0.01);
  return result;
}

}  // namespace

std::vector<FidelityCase> clean_lan_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 1, count, [](Draws& draws, int) {
    sim::LinkSpec link;
    link.rate = BitsPerSecond(draws.log_uniform(100e6, 10e9));
    const double round_trip = draws.log_uniform(0.1e-3, 2e-3);
    return spaced_out(draws, pairs(link, round_trip, draws.bytes(1e4, 2e7), 1), 0.1);
  });
}

std::vector<FidelityCase> sharing_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 2, count, [](Draws& draws, int i) {
    FidelityCase result = sharing_case(draws, i % 4);
    result.experiment.gap = Seconds(draws.log_uniform(1e-3, 0.1));
    return result;
  });
}

std::vector<FidelityCase> clean_wan_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 3, count, [](Draws& draws, int) {
    sim::LinkSpec link;
    link.rate = BitsPerSecond(draws.log_uniform(10e6, 1e9));
    const double round_trip = draws.uniform(20e-3, 80e-3);
    return spaced_out(draws, pairs(link, round_trip, draws.bytes(5e4, 1e7), 1), 0.3);
  });
}

std::vector<FidelityCase> lossy_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 4, count, [](Draws& draws, int) {
    const Bytes bytes = draws.bytes(1e6, 4e6);
    return lossy(draws, bytes, 8, 4);
  });
}

std::vector<FidelityCase> short_lossy_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 5, count, [](Draws& draws, int) {
    const Bytes bytes = draws.bytes(1e4, 1e5);
    return lossy(draws, bytes, 32, 16);
  });
}

std::vector<FidelityCase> mixed_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 6, count, [](Draws& draws, int) { return mixed_case(draws); });
}

}  // namespace gradwire::bench
