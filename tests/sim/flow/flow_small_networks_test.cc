// Short messages in small networks, which are followed packet by packet over all links, held
// against ns-3 3.44 (the executor `packet` with the same transfers), whose figures these are.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "sim/cluster/topologies/topologies.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

constexpr double kNanosecond = 1e-9;

Cluster star_of(const std::vector<LinkSpec>& each) {
  Cluster cluster;
  std::vector<NodeId> ends;
  for (std::size_t h = 0; h < each.size(); ++h)
    ends.push_back(cluster.add_host("h" + std::to_string(h)));
  const NodeId middle = cluster.add_switch("middle");
  for (std::size_t h = 0; h < each.size(); ++h) cluster.add_link(ends[h], middle, each[h]);
  cluster.finish(1);
  return cluster;
}

/// s, of transfers that begin at once.
std::vector<double> ends_of(const Cluster& cluster, const std::vector<Route>& routes,
                            const TransportSettings& transport = {}) {
  ExecutorOptions options;
  options.transport = transport;
  const auto executor = make("flow", cluster, options);
  std::vector<double> ends;
  for (const OpRecord& op : run_to_end(*executor, submit(*executor, transfers(routes))).ops)
    ends.push_back(op.end.value());
  return ends;
}

void check(const std::vector<double>& flow, const std::vector<double>& ns3, double margin) {
  REQUIRE(flow.size() == ns3.size());
  for (std::size_t i = 0; i < ns3.size(); ++i) {
    INFO(i);
    CHECK(flow[i] == Approx(ns3[i]).epsilon(0).margin(margin));
  }
}

}  // namespace

TEST_CASE("short messages that meet on several links of a ring of hosts end when ns-3's do") {
  // Halving-doubling of 16.5 kB among five around a ring: by shares the ranks are through after
  // 0.839, 0.666, 0.691, 0.536 and 0.548 ms. (The figures are of chunks a few bytes longer.)
  const auto executor = make("flow", host_ring(5, link(845e6, 6.94e-6)));
  GraphBuilder builder;
  builder.add_collective(ring_spec(CollectiveKind::kHalvingDoublingAllReduce, 5, 4125), "halving");
  const Timeline timeline = run(*executor, Step(builder.finish(), {}));
  std::vector<double> done;
  for (const Seconds each : timeline.rank_done.at(0)) done.push_back(each.value());
  check(done, {0.000815176, 0.000642137, 0.000664660, 0.000522892, 0.000534490}, 100 * kNanosecond);
}

TEST_CASE("BBR's messages pass a shared link one after the other, as they come") {
  // Two segments each of four at once over 10 Mbps: by equal shares all end after 8.722 ms.
  TransportSettings transport;
  transport.congestion_control = TransportSettings::CongestionControl::kBbr;
  const Cluster cluster = Cluster::star(5, link(10e6, 65e-6));
  check(ends_of(cluster, {{0, 4, 2290}, {1, 4, 2290}, {2, 4, 2290}, {3, 4, 2290}}, transport),
        {0.006970001, 0.007715601, 0.008461201, 0.009206801}, 2 * kNanosecond);
}

TEST_CASE("messages from afar do not wait for the shares of those that have come") {
  // 7.6 kB each of four hosts 26 to 77 ms away, for a server of 7.75 Mbps, on which each takes 8
  // ms: they come 14 ms and more apart and meet nobody. By shares they end after 68 to 119 ms.
  std::vector<LinkSpec> links;
  for (const double delay : {26e-3, 40e-3, 55e-3, 77e-3}) links.push_back(link(145e6, delay));
  links.push_back(link(7.75e6, 10e-3));
  check(ends_of(star_of(links), {{0, 4, 7600}, {1, 4, 7600}, {2, 4, 7600}, {3, 4, 7600}}),
        {0.044448290, 0.058448290, 0.073448290, 0.095448290}, 2 * kNanosecond);
}
