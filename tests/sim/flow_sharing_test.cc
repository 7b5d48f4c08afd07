// Flows of unlike windows on one link, and links that stop, held against ns-3 3.44 (the executor
// `packet` with the same scenario). Figures of ns-3 are means over the transfers.
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "sim/flow/max_min.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

/// A link of its own for each client, and the server's; the server is the last host.
Cluster star_of(const std::vector<LinkSpec>& clients, const LinkSpec& server) {
  Cluster cluster;
  for (std::size_t c = 0; c < clients.size(); ++c) cluster.add_host("c" + std::to_string(c));
  const NodeId last = cluster.add_host("server");
  const NodeId middle = cluster.add_switch("switch");
  for (std::size_t c = 0; c < clients.size(); ++c)
    cluster.add_link(static_cast<NodeId>(c), middle, clients[c]);
  cluster.add_link(last, middle, server);
  cluster.finish();
  return cluster;
}

Step uploads(int first, int end, int server, std::int64_t bytes) {
  std::vector<Route> routes;
  for (int c = first; c < end; ++c) routes.push_back({c, server, bytes});
  return transfers(routes);
}

double mean_end(const Timeline& timeline) {
  double sum = 0;
  for (const OpRecord& op : timeline.ops) sum += op.end.value();
  return sum / static_cast<double>(timeline.ops.size());
}

/// Mean time of an upload by each client at once.
double mean_upload(const std::vector<LinkSpec>& clients, const LinkSpec& server, std::int64_t bytes,
                   const ExecutorOptions& options = {}) {
  const int n = static_cast<int>(clients.size());
  const Cluster cluster = star_of(clients, server);
  const auto executor = make("flow", cluster, options);
  return mean_end(run(*executor, uploads(0, n, n, bytes)));
}

LinkSpec with_outage(LinkSpec spec, double begin, double end) {
  spec.outages.push_back({Seconds(begin), Seconds(end)});
  return spec;
}

}  // namespace

TEST_CASE("room on a full link is a fair share") {
  // A link of 100: a flow that takes 10, and two others with 45 each. If the first took all it can
  // get, the three would have 100 / 3 each: (10 + 2 x 45) / 3.
  MaxMin sharing({100, 100, 1000, 1000}, 0);
  const std::vector<ChannelId> one{0};
  const std::int32_t small = sharing.add_flow(one);
  sharing.activate(small, 10);
  for (int i = 0; i < 2; ++i) sharing.activate(sharing.add_flow(one), MaxMin::kNoCap);
  sharing.resolve(0);
  CHECK(sharing.rate(small) == Approx(10));
  CHECK(sharing.room(small) == Approx(100.0 / 3));
  // Of a link that is not full it is what is left: 1,000 - 20.
  const std::vector<ChannelId> other{2};
  const std::int32_t alone = sharing.add_flow(other);
  sharing.activate(alone, 10);
  const std::int32_t beside = sharing.add_flow(other);
  sharing.activate(beside, 20);
  sharing.resolve(0);
  CHECK(sharing.room(alone) == Approx(980));
  // A pool: 40 others take all but 10 of the first link, (10 + 40 x 90 / 40) / 41 = 100 / 41.
  for (int i = 0; i < 38; ++i) sharing.activate(sharing.add_flow(one), MaxMin::kNoCap);
  sharing.set_cap(small, 1);
  sharing.resolve(0);
  CHECK(sharing.room(small) == Approx(100.0 / 41));
}

TEST_CASE("a window that is small beside a flow's share of a full link goes out at a fair share") {
  // A server of 100 Mbps and 10 us, filled by 6 MB each from clients on 1 Gbps and 1 ms; 300 ms
  // later a client on 1 Gbps and 40 ms sends. Spread over its round trip, a window takes one more.
  const auto probe = [](int others, double way, std::int64_t bytes) {
    std::vector<LinkSpec> clients(static_cast<std::size_t>(others), link(1e9, 1e-3));
    clients.push_back(link(1e9, way));
    const Cluster cluster = star_of(clients, link(1e8, 10e-6));
    const auto executor = make("flow", cluster);
    submit(*executor, uploads(0, others, others + 1, 6000000));
    const GraphId last =
        submit(*executor, uploads(others, others + 1, others + 1, bytes), Seconds(0.3));
    return run_to_end(*executor, last).end.value() - 0.3;
  };
  CHECK(probe(1, 40e-3, 300000) == Approx(368.60e-3).epsilon(0.02));
  CHECK(probe(3, 40e-3, 300000) == Approx(390.69e-3).epsilon(0.02));
  CHECK(probe(3, 10e-3, 300000) == Approx(141.41e-3).epsilon(0.02));
  CHECK(probe(7, 40e-3, 30000) == Approx(130.40e-3).epsilon(0.02));
  // 7 clients on 100 Mbps, 1 to 80 ms away, 1 MB each: 548.4 ms.
  std::vector<LinkSpec> clients;
  for (const double way : {1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 40e-3, 80e-3})
    clients.push_back(link(1e8, way));
  CHECK(mean_upload(clients, link(1e8, 10e-6), 1000000) == Approx(548.39e-3).epsilon(0.05));
}

TEST_CASE("BBR's flows are no slower where they are many enough for a pool") {
  // 31, 33 and 48 clients on 100 Mbps and 10 ms, a server of 1 Gbps and 10 us, 300 kB: 125.57,
  // 128.71 and 157.58 ms.
  ExecutorOptions bbr;
  bbr.transport.congestion_control = TransportSettings::CongestionControl::kBbr;
  for (const auto& [clients, ns3] : {std::pair{31, 125.57e-3}, {33, 128.71e-3}, {48, 157.58e-3}}) {
    INFO(clients);
    const std::vector<LinkSpec> links(static_cast<std::size_t>(clients), link(1e8, 10e-3));
    CHECK(mean_upload(links, link(1e9, 10e-6), 300000, bbr) == Approx(ns3).epsilon(0.05));
  }
}

TEST_CASE("what waits through an outage is not dropped for it") {
  // One client on 100 Mbps and 10 ms, nothing passes from 30 to 60 ms: 300 kB take 128.59 ms
  // (99.35 ms without).
  const LinkSpec plain = link(1e8, 10e-3);
  const LinkSpec idle = link(1e11, 10e-6);
  CHECK(mean_upload({with_outage(plain, 30e-3, 60e-3)}, idle, 300000) ==
        Approx(128.59e-3).epsilon(0.1));
  CHECK(mean_upload({plain}, idle, 300000) == Approx(99.35e-3).epsilon(1e-3));
  // A server of 1 Gbps out from 50 to 150 ms: 40 clients take 240.58 ms.
  const std::vector<LinkSpec> forty(40, plain);
  CHECK(mean_upload(forty, with_outage(link(1e9, 10e-6), 50e-3, 150e-3), 300000) ==
        Approx(240.58e-3).epsilon(0.1));
  // With losses of 0.5 % 261.6 +- 3.4 ms (4 seeds): they sleep no longer than the link.
  const std::vector<LinkSpec> lossy(40, link(1e8, 10e-3, 0.005));
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    ExecutorOptions options;
    options.seed = seed;
    sum += mean_upload(lossy, with_outage(link(1e9, 10e-6), 50e-3, 150e-3), 300000, options);
  }
  CHECK(sum / 4 == Approx(261.6e-3).epsilon(0.12));
}
