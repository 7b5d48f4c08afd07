#include "sim/flow/choose_detail.h"

#include <catch2/catch.hpp>
#include <vector>

#include "base/error.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

using Protocol = TransportSettings::Protocol;

/// `senders` hosts of one switch that send to a further one, among `idle` others; `split`: each
/// link is two of half the delay with a switch between them.
Cluster incast_of(int senders, int idle, bool split = false) {
  Cluster cluster;
  std::vector<NodeId> ends;
  for (int h = 0; h <= senders + idle; ++h)
    ends.push_back(cluster.add_host("h" + std::to_string(h)));
  const NodeId middle = cluster.add_switch("middle");
  for (std::size_t h = 0; h < ends.size(); ++h) {
    if (!split) {
      cluster.add_link(ends[h], middle, link(1e9, 50e-6));
      continue;
    }
    const NodeId between = cluster.add_switch("between" + std::to_string(h));
    cluster.add_link(ends[h], between, link(1e9, 25e-6));
    cluster.add_link(between, middle, link(1e9, 25e-6));
  }
  cluster.finish(1);
  return cluster;
}

std::vector<double> ends_of(const Cluster& cluster, std::optional<Detail> detail,
                            std::int64_t bytes = 200'000) {
  ExecutorOptions options;
  options.detail = detail;
  std::vector<Route> routes;
  for (int h = 1; h <= 3; ++h) routes.push_back({h, 0, bytes + 7 * h});
  const auto executor = make("flow", cluster, options);
  std::vector<double> ends;
  for (const OpRecord& op : run_to_end(*executor, submit(*executor, transfers(routes))).ops)
    ends.push_back(op.end.value());
  return ends;
}

}  // namespace

TEST_CASE("The detail goes by transport and air, and by what is asked for") {
  const auto chosen = [](Protocol protocol, bool air, std::optional<Detail> asked = {}) {
    return choose_detail({protocol, air, false, false, asked});
  };
  CHECK_FALSE(chosen(Protocol::kTcp, false));
  CHECK(chosen(Protocol::kTcp, false, Detail::kFluid) == Detail::kFluid);
  CHECK(chosen(Protocol::kTcp, false, Detail::kPerPacket) == Detail::kPerPacket);
  CHECK(chosen(Protocol::kTcp, true) == Detail::kPerPacket);
  CHECK(chosen(Protocol::kUdpLossy, false) == Detail::kPerPacket);
  CHECK(chosen(Protocol::kIdeal, true) == Detail::kFluid);
  CHECK(chosen(Protocol::kRdma, false) == Detail::kFluid);
  CHECK_THROWS_AS(chosen(Protocol::kTcp, true, Detail::kFluid), Error);
  CHECK_THROWS_AS(chosen(Protocol::kUdpLossy, false, Detail::kFluid), Error);
  CHECK_THROWS_AS(chosen(Protocol::kRdma, false, Detail::kPerPacket), Error);
  CHECK_THROWS_WITH(choose_detail({Protocol::kTcp, false, true, true, Detail::kFluid}),
                    Catch::Contains("neither a queue that fills"));
}

TEST_CASE("Where rates say too little about TCP it goes packet by packet") {
  const auto chosen = [](const LinkSpec& each, const TransportSettings& transport = {}) {
    return choose_detail(detail_question(Cluster::star(3, each), transport, {}));
  };
  LinkSpec queued = link(1e9, 50e-6), jitters = queued, half = queued;
  CHECK_FALSE(chosen(queued));
  queued.queue = Bytes(64'000);
  jitters.jitter = Seconds(1e-6);
  half.half_duplex = true;
  for (const LinkSpec& each : {queued, jitters, half}) CHECK(chosen(each) == Detail::kPerPacket);
  // Ten segments of 8 x 1,538 bits take 200 ms, the least timeout, at 615.2 kbps.
  CHECK(chosen(link(615e3, 50e-6)) == Detail::kPerPacket);
  CHECK_FALSE(chosen(link(616e3, 50e-6)));
  TransportSettings other;
  other.constants.kernel_recovery = true;
  CHECK(chosen(jitters, other) == Detail::kPerPacket);
  other = {};
  other.protocol = Protocol::kIdeal;
  CHECK(chosen(half, other) == Detail::kFluid);
}

TEST_CASE("The first graph says whether few enough packets cross links to send each") {
  const auto goes = [&](const Cluster& cluster, const std::vector<Route>& routes,
                        const TransportSettings& transport = {}) {
    const Step step = transfers(routes);
    FirstExchange first;
    first.add(*step.graph, step.bytes);
    return goes_per_packet(cluster, transport, first);
  };
  const std::vector<Route> ring = {
      {0, 1, 14'480'000}, {1, 2, 14'480'000}, {2, 3, 14'480'000}, {3, 0, 14'480'000}};
  const LinkSpec clean = link(1e9, 50e-6), lossy = link(1e9, 50e-6, 0.01);
  LinkSpec far = clean;
  far.delay = Seconds(1e-3);
  const auto uneven = [&](int idle) {
    Cluster cluster;
    std::vector<NodeId> ends;
    for (int h = 0; h < 4 + idle; ++h) ends.push_back(cluster.add_host("h" + std::to_string(h)));
    const NodeId middle = cluster.add_switch("middle");
    for (int h = 0; h < 4 + idle; ++h)
      cluster.add_link(ends[static_cast<std::size_t>(h)], middle, h < 2 ? far : clean);
    cluster.finish(1);
    return cluster;
  };
  CHECK_FALSE(goes(Cluster::star(4, clean), ring));
  CHECK(goes(Cluster::star(4, lossy), ring));
  CHECK(goes(uneven(0), ring));
  CHECK(goes(uneven(2000), ring));
  const std::vector<Route> near = {{2, 3, 16'000'000}};  // idle hosts that are farther away
  CHECK_FALSE(goes(uneven(0), near));
  CHECK_FALSE(goes(uneven(2000), near));
  // Of 300,000 events a segment over two links is three: 100,000 segments, or 99,999 and one more.
  const std::int64_t most = 144'800'000 - 1448;
  const Route back = {2, 3, 1448}, other_back = {3, 2, 1448};
  CHECK(goes(uneven(0), {{0, 1, most - 6 * 1448}, back, other_back}));
  CHECK_FALSE(goes(uneven(0), {{0, 1, most + 1448}, back, other_back}));
  CHECK(goes(Cluster::star(3, lossy), {{0, 1, most + 1448}}));
  CHECK_FALSE(goes(Cluster::star(3, lossy), {{0, 1, 10 * most + 14480}}));
  Cluster idle_loses = Cluster::star(4, clean);
  idle_loses.change_link(3, lossy);
  CHECK_FALSE(goes(idle_loses, {{0, 1, 14'480'000}, {1, 2, 14'480'000}}));
  CHECK(goes(idle_loses, ring));
  // Of 30,000 events whoever sends: 10,000 segments.
  const Cluster fast = Cluster::star(4, link(10e9, 50e-6));
  CHECK(goes(fast, {{0, 1, 5'000 * 1448 - 1448}, {2, 3, 5'000 * 1448 - 1448}}));
  CHECK_FALSE(goes(fast, {{0, 1, 5'000 * 1448}, {2, 3, 5'000 * 1448}}));
  // Two that send to one for 105 ms, CoDel's interval and target: 131,250,000 B at 10 Gbps, of
  // which 1,448 of 1,538 are theirs.
  CHECK_FALSE(goes(fast, {{0, 2, 61'700'000}, {1, 2, 61'700'000}}));
  CHECK(goes(fast, {{0, 2, 61'900'000}, {1, 2, 61'900'000}}));
  // Over 6 ms there and back a fluid would follow segments, too: 1,000,000 of them.
  const Cluster distant = Cluster::star(4, link(10e9, 1.6e-3));
  CHECK(goes(distant, {{0, 2, 480'000 * 1448}, {1, 2, 480'000 * 1448}}));
  CHECK_FALSE(goes(distant, {{0, 2, 520'000 * 1448}, {1, 2, 520'000 * 1448}}));
  TransportSettings other;
  other.constants.kernel_recovery = true;
  CHECK(goes(Cluster::star(4, lossy), ring, other));
}

TEST_CASE("Workers that go their own ways are looked at together") {
  // As an asynchronous server's: two messages of 6,000 segments, each of a graph of its own. One
  // takes 18,000 events, both together more than 30,000.
  const Cluster cluster = Cluster::star(3, link(10e9, 50e-6));
  const auto executor = make("flow", cluster);
  submit(*executor, transfers({{0, 2, 6'000 * 1448}}), Seconds(1e-3));
  submit(*executor, transfers({{1, 2, 6'000 * 1448}}), Seconds(2e-3));
  CHECK_FALSE(executor->detail());
  drain(*executor);
  CHECK(executor->detail() == Detail::kFluid);
  const auto alone = make("flow", cluster);  // negative control
  submit(*alone, transfers({{0, 2, 6'000 * 1448}}), Seconds(1e-3));
  drain(*alone);
  CHECK(alone->detail() == Detail::kPerPacket);
}

TEST_CASE("Packet by packet, idle hosts change no time, however many they are") {
  const std::vector<double> few = ends_of(incast_of(3, 0), Detail::kPerPacket);
  CHECK(ends_of(incast_of(3, 200), Detail::kPerPacket) == few);
  CHECK(ends_of(incast_of(3, 3000), Detail::kPerPacket) == few);
}

TEST_CASE("Packet by packet, a link in two pieces costs a packet's forwarding and no more") {
  // Two more switches on the way store a full segment each: 8 x 1,538 / 1 Gbps.
  const std::vector<double> whole = ends_of(incast_of(3, 0), Detail::kPerPacket);
  const std::vector<double> split = ends_of(incast_of(3, 0, true), Detail::kPerPacket);
  for (std::size_t i = 0; i < whole.size(); ++i)
    CHECK(split[i] - whole[i] == Approx(2 * 8 * 1538 / 1e9).margin(40e-6));
}

TEST_CASE("A fluid has no queues: what meets at one ends when shares say") {
  // Three times 200 kB with their headers over 1 Gbps, last at 600 kB; the packets take turns.
  const double wire = 600'000.0 * 1538 / 1448 * 8 / 1e9;
  const std::vector<double> fluid = ends_of(incast_of(3, 0), Detail::kFluid, 20'000'000);
  const std::vector<double> packets = ends_of(incast_of(3, 0), Detail::kPerPacket, 20'000'000);
  CHECK(fluid[2] > 100 * wire);
  for (std::size_t i = 0; i < fluid.size(); ++i) {
    CHECK(fluid[i] == Approx(packets[i]).epsilon(0.01));
    CHECK(fluid[i] != packets[i]);  // or it was not chosen
  }
}
