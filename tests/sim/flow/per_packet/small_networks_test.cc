// Small networks, whose first graph takes few packets, which go one by one over all links: held
// against ns-3 3.44 (the executor `packet` with the same transfers), whose figures these are.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/cluster/rate_schedule.h"
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

/// By its own choice, and packet by packet.
const std::vector<std::optional<Detail>> kDetails = {std::nullopt, Detail::kPerPacket};

/// s, of transfers that begin at once.
std::vector<double> ends_of(const Cluster& cluster, const std::vector<Route>& routes,
                            std::optional<Detail> detail, const TransportSettings& transport = {}) {
  ExecutorOptions options;
  options.transport = transport;
  options.detail = detail;
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

/// Of transfers that begin at once.
void check(const Cluster& cluster, const std::vector<Route>& routes, const std::vector<double>& ns3,
           double margin, const TransportSettings& transport = {}) {
  for (const auto& detail : kDetails)
    check(ends_of(cluster, routes, detail, transport), ns3, margin);
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
  check(cluster, {{0, 4, 2290}, {1, 4, 2290}, {2, 4, 2290}, {3, 4, 2290}},
        {0.006970001, 0.007715601, 0.008461201, 0.009206801}, 2 * kNanosecond, transport);
}

TEST_CASE("a recovery of BBR's has room for what it has sent again") {
  // Four messages of eight segments each through a queue of six: three segments are lost at once.
  // Without that room the last one waits for a timeout less: 0.116 s.
  TransportSettings transport;
  transport.congestion_control = TransportSettings::CongestionControl::kBbr;
  transport.delayed_ack = Seconds(0);
  LinkSpec small = link(17.8e6, 143e-6);
  small.queue = Bytes(9790);
  check(Cluster::star(2, small), std::vector<Route>(4, {0, 1, 11'200}),
        {0.014078, 0.216071, 0.216071, 0.218041}, 1e-5, transport);
}

TEST_CASE("short messages of many hosts pass a star's link one after the other") {
  // 3 B are 93 on the wire, 0.744 us at 1 Gbps, of which 36 B, 0.288 us, follow the packet: number
  // k of 69 to host 69 ends after 2 x 10 us + (k + 2) x 0.744 us - 2 x 0.288 us, k from 0. (All
  // would end with the last one by shares.)
  constexpr int kHosts = 70;
  std::vector<Route> routes;
  for (int h = 0; h + 1 < kHosts; ++h) routes.push_back({h, kHosts - 1, 3});
  const LinkSpec each = link(1e9, 10e-6);
  std::vector<double> expected;
  for (int k = 0; k + 1 < kHosts; ++k)
    expected.push_back(20e-6 + (k + 2) * 0.744e-6 - 2 * 0.288e-6);
  for (const auto& detail : kDetails) {
    std::vector<double> ends = ends_of(Cluster::star(kHosts, each), routes, detail);
    std::ranges::sort(ends);
    check(ends, expected, 2 * kNanosecond);
  }
}

TEST_CASE("what follows a packet counts where a message is short for its links") {
  // 1 B is 91 on the wire, 36.4 us at 20 Mbps, of which 36 B, 14.4 us, follow it on each of two
  // hops; 2 x 8 us. At 1 Gbps and 50 us what follows is half a per cent, and a fluid waits for it:
  // 2 x 50 us + 2 x 0.728 us, in place of 2 x 0.288 us less.
  check(Cluster::star(8, link(20e6, 8e-6)), {{0, 7, 1}}, {2 * 36.4e-6 + 16e-6 - 2 * 14.4e-6},
        2 * kNanosecond);
  const Cluster fast = Cluster::star(8, link(1e9, 50e-6));
  check(ends_of(fast, {{0, 7, 1}}, Detail::kFluid), {100e-6 + 2 * 0.728e-6}, 2 * kNanosecond);
  check(ends_of(fast, {{0, 7, 1}}, Detail::kPerPacket), {100e-6 + 2 * 0.728e-6 - 2 * 0.288e-6},
        2 * kNanosecond);
}

TEST_CASE("messages from afar do not wait for the shares of those that have come") {
  // 7.6 kB each of four hosts 26 to 77 ms away, for a server of 7.75 Mbps, on which each takes 8
  // ms: they come 14 ms and more apart and meet nobody. By shares they end after 68 to 119 ms.
  std::vector<LinkSpec> links;
  for (const double delay : {26e-3, 40e-3, 55e-3, 77e-3}) links.push_back(link(145e6, delay));
  links.push_back(link(7.75e6, 10e-3));
  check(star_of(links), {{0, 4, 7600}, {1, 4, 7600}, {2, 4, 7600}, {3, 4, 7600}},
        {0.044448290, 0.058448290, 0.073448290, 0.095448290}, 2 * kNanosecond);
}

TEST_CASE("what lossy links take from connections that share them, and when, is as in ns-3") {
  // Each of three hosts sends 60 kB to both others, four times, over links that lose 0.5 %: two
  // timeouts, and one second copy. Seed 7, whose losses `packet` draws as well.
  const std::vector<Route> routes = {{0, 1, 60000}, {0, 2, 60000}, {1, 0, 60000},
                                     {1, 2, 60000}, {2, 0, 60000}, {2, 1, 60000}};
  const std::vector<std::vector<double>> ns3 = {
      {0.0738064, 0.0746304, 0.0731552, 0.0749944, 0.0778176, 0.0747104},
      {0.2461768, 0.0637952, 0.0640856, 0.0635064, 0.0643744, 0.0630216},
      {0.1767856, 0.0624160, 0.1035792, 0.0633952, 0.0636664, 0.0618224},
      {0.0640648, 0.0630984, 0.0644512, 0.0814856, 0.2815120, 0.0727448}};
  const auto differ = [&](std::uint64_t seed, std::optional<Detail> detail = {}) {
    ExecutorOptions options;
    options.seed = seed;
    options.detail = detail;
    const auto executor = make("flow", Cluster::star(3, link(20e6, 5e-3, 0.005)), options);
    std::vector<double> largest;  // by round
    for (const std::vector<double>& round : ns3) {
      const Timeline& timeline = run_to_end(*executor, submit(*executor, transfers(routes)));
      double& most = largest.emplace_back();
      for (std::size_t i = 0; i < round.size(); ++i) {
        const double seconds = (timeline.ops[i].end - timeline.ops[i].start).value();
        most = std::max(most, std::abs(seconds / round[i] - 1));
      }
    }
    return largest;
  };
  const std::vector<double> same = differ(7);
  CHECK(same[0] < 0.015);
  for (const std::size_t round : {1u, 2u, 3u}) CHECK(same[round] < 1e-6);
  CHECK(std::ranges::max(differ(7, Detail::kPerPacket)) < 1e-7);
  CHECK(std::ranges::max(differ(8)) > 0.5);  // other packets
}

TEST_CASE("who loses what where all send to all at once is as in ns-3, timers included") {
  // CoDel drops segments of the queues at both ends. By shares 500 kB to each other of 16 over 100
  // Mbps and 10 ms took 0.73 s, 192 kB among 10 on 37.5 Mbps 0.60; so they do where an
  // acknowledgement that names blocks is as long as another.
  const auto round_of = [](const Cluster& cluster, std::int64_t bytes,
                           std::optional<Detail> detail = {}) {
    ExecutorOptions options;
    options.detail = detail;
    const CollectiveSpec spec =
        ring_spec(CollectiveKind::kDirectAllGather, cluster.host_count(), 0);
    GraphBuilder builder;
    builder.add_collective(spec, "direct");
    const std::vector<std::int64_t> sizes(spec.byte_slots(), bytes);
    return run(*make("flow", cluster, options), Step(builder.finish(), sizes)).end.value();
  };
  CHECK(round_of(Cluster::star(16, link(100e6, 10e-3)), 500'000) ==
        Approx(1.527816801).epsilon(1e-7));
  CHECK(round_of(Cluster::star(10, link(37.5e6, 98.3e-6)), 192'000) ==
        Approx(0.416290).epsilon(1e-5));
  CHECK(round_of(Cluster::star(16, link(100e6, 10e-3)), 500'000, Detail::kPerPacket) ==
        Approx(1.527816801).epsilon(1e-8));
  CHECK(round_of(Cluster::star(10, link(37.5e6, 98.3e-6)), 192'000, Detail::kPerPacket) ==
        Approx(0.416290).epsilon(1e-5));
}

TEST_CASE("a window that is less than the pipe waits for acknowledgements behind data") {
  // 70 kB both ways in segments of 8,948 B, a buffer of 60,400 B: one way alone 43.3 ms.
  TransportSettings transport;
  transport.segment = Bytes(8948);
  transport.wire_segment = Bytes(9038);
  transport.buffer = Bytes(60'400);
  const Cluster cluster = Cluster::star(2, link(18.8e6, 4.61e-3));
  check(cluster, {{0, 1, 70000}, {1, 0, 70000}}, {0.056202551, 0.056202551}, 5 * kNanosecond,
        transport);
}

TEST_CASE("a link that never changes is followed, too, beside links that do") {
  // 3,000 B from each of four to each other; three links change (after the end). By shares on the
  // fourth, messages would meet others of which no queue tells.
  LinkSpec changes = link(1e7, 13e-6);
  changes.schedule = changes.schedule_back = RateSchedule::from_pieces(
      "later", {{Seconds(0), BitsPerSecond(1e7)}, {Seconds(0.3), BitsPerSecond(1.1e7)}},
      Seconds(0));
  std::vector<Route> routes;
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to)
      if (from != to) routes.push_back({from, to, 3000});
  check(star_of({changes, changes, changes, link(1e9, 1e-6)}), routes,
        {0.007947121, 0.009226001, 0.008152817, 0.008006801, 0.009381201, 0.008223265, 0.008162001,
         0.008162001, 0.008151265, 0.007779617, 0.005259121, 0.005343425},
        2e-6);
}
