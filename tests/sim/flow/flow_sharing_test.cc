// Flows of unlike windows on one link, and links that stop, held against ns-3 3.44 (the executor
// `packet` with the same scenario). Figures of ns-3 are means over the transfers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "sim/flow/fluid/fluid_stream.h"
#include "sim/flow/shares/max_min.h"
#include "tests/sim/graphs.h"
#include "tests/sim/streams.h"

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

double mean_of_seeds(const std::vector<LinkSpec>& clients, const LinkSpec& server,
                     std::int64_t bytes, std::uint64_t seeds) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    ExecutorOptions options;
    options.seed = seed;
    sum += mean_upload(clients, server, bytes, options);
  }
  return sum / static_cast<double>(seeds);
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
  CHECK(mean_upload(clients, link(1e8, 10e-6), 1000000) == Approx(548.39e-3).epsilon(0.06));
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

TEST_CASE("what waits through an outage is not dropped for it, acknowledgements wait as well") {
  // One client on 100 Mbps and 10 ms, nothing passes from 30 to 60 ms: 300 kB take 128.590 ms
  // (99.35 ms without), 233.846 ms out from 30 to 130 ms.
  const LinkSpec plain = link(1e8, 10e-3);
  const LinkSpec idle = link(1e11, 10e-6);
  CHECK(mean_upload({plain}, idle, 300000) == Approx(99.35e-3).epsilon(1e-3));
  CHECK(mean_upload({with_outage(plain, 30e-3, 60e-3)}, idle, 300000) ==
        Approx(128.590e-3).epsilon(0.01));
  CHECK(mean_upload({with_outage(plain, 30e-3, 130e-3)}, idle, 300000) ==
        Approx(233.846e-3).epsilon(0.01));
  // A server of 1 Gbps out from 50 to 150 ms: 4 clients take 214.09 ms, 40 take 240.58 ms.
  const LinkSpec server = with_outage(link(1e9, 10e-6), 50e-3, 150e-3);
  CHECK(mean_upload(std::vector<LinkSpec>(4, plain), server, 300000) ==
        Approx(214.09e-3).epsilon(0.01));
  CHECK(mean_upload(std::vector<LinkSpec>(40, plain), server, 300000) ==
        Approx(240.58e-3).epsilon(0.02));
  // With losses of 0.5 % 261.6 +- 3.4 ms (4 seeds): they sleep no longer than the link.
  const std::vector<LinkSpec> lossy(40, link(1e8, 10e-3, 0.005));
  CHECK(mean_of_seeds(lossy, server, 300000, 4) == Approx(261.6e-3).epsilon(0.05));
}

TEST_CASE("acknowledgements are late as well where packets are") {
  // Jitter on 100 Mbps and 10 ms: 8 clients, 300 kB, 5 ms: 130.43 +- 0.2 ms (6 seeds); 2 ms:
  // 110.30 +- 0.2 ms. Up to so much a round trip is lost to the last of what it brings, each way.
  const LinkSpec idle = link(1e11, 10e-6);
  LinkSpec late = link(1e8, 10e-3);
  late.jitter = Seconds(5e-3);
  CHECK(mean_of_seeds(std::vector<LinkSpec>(8, late), idle, 300000, 6) ==
        Approx(130.43e-3).epsilon(0.015));
  late.jitter = Seconds(2e-3);
  CHECK(mean_of_seeds(std::vector<LinkSpec>(8, late), idle, 300000, 6) ==
        Approx(110.30e-3).epsilon(0.015));
}

TEST_CASE("a slow way back lets acknowledgements pass one after the other") {
  // 100 Mbps and 10 ms, 2 MB. 1,382 segments are 691 acknowledgements of 90 B, 0.72 ms each at
  // 1 Mbps: 0.4975 s and more; ns-3 501.98 ms. Back at 5 Mbps 256.945 ms; 100 Mbps 256.25 ms.
  const LinkSpec idle = link(1e11, 10e-6);
  const auto back = [](double rate) {
    LinkSpec spec = link(1e8, 10e-3);
    spec.schedule_back =
        RateSchedule::from_pieces("back", {{Seconds(0), BitsPerSecond(rate)}}, Seconds(0));
    return spec;
  };
  CHECK(mean_upload({back(1e6)}, idle, 2000000) == Approx(501.98e-3).epsilon(0.03));
  CHECK(mean_upload({back(5e6)}, idle, 2000000) == Approx(256.945e-3).epsilon(0.002));
  CHECK(mean_upload({link(1e8, 10e-3)}, idle, 2000000) == Approx(256.25e-3).epsilon(0.002));
}

TEST_CASE("acknowledgements keep their order on the way back", "[unit]") {
  // 1 ms apart at most; a link that stands 5 ms before the sender is out from 20 to 30 ms.
  WayBack way(1e-3);
  CHECK(way.arrival(10e-3) == Approx(10e-3));
  way.arrived(10e-3);
  CHECK(way.arrival(10.2e-3) == Approx(11e-3));
  way.close(20e-3, 5e-3);
  CHECK(way.arrival(24e-3) == Approx(24e-3));  // it is past that link
  CHECK(way.arrival(25e-3) == WayBack::kNever);
  CHECK(way.released(30e-3, 25e-3) == Approx(35e-3));
  CHECK(way.released(30e-3, 24e-3) == Approx(24e-3));
  way.open();
  CHECK(way.arrival(40e-3) == Approx(40e-3));
}

TEST_CASE("a transfer takes as long after a month as at first", "[unit]") {
  // Time stamps of 1 ms pass 2^31 after 24.9 days and 2^32 after 49.7. 300 kB over 100 Mbps and
  // 10 ms are several windows: round trips decide when the next one goes out.
  constexpr double kDay = 86400;
  const auto at = [](double begin) {
    const Cluster cluster = star_of({link(1e8, 10e-3)}, link(1e11, 10e-6));
    const auto executor = make("flow", cluster);
    const GraphId id = submit(*executor, uploads(0, 1, 1, 300000), Seconds(begin));
    return run_to_end(*executor, id).end.value() - begin;
  };
  for (const double begin :
       {20 * kDay, 24.85514 * kDay - 0.02, 30 * kDay, 49.71027 * kDay, 60 * kDay})
    CHECK(at(begin) == Approx(at(0)).epsilon(1e-3));
}

TEST_CASE("messages that the window holds back go out in full segments") {
  // At once from one client. 100 of 500 B over 100 Mbps and 10 ms: the window of 14,480 B lets 28
  // out as they are; the other 36,000 B follow in segments of 1,448 B as acknowledgements come:
  // 29.240 ms in the mean, 30 of them 11.985 ms, 10 (none held back, negative control) 10.26 ms.
  // 100 of 1,500 B 52.939 ms; 200 of 100 B over 1 Gbps and 50 us 0.15403 ms.
  const auto mean = [](const LinkSpec& client, int count, std::int64_t bytes) {
    const Cluster cluster = star_of({client}, link(1e11, 10e-6));
    const auto executor = make("flow", cluster);
    return mean_end(run(*executor, transfers(std::vector<Route>(static_cast<std::size_t>(count),
                                                                Route{0, 1, bytes}))));
  };
  const LinkSpec wan = link(1e8, 10e-3);
  CHECK(mean(wan, 100, 500) == Approx(29.240e-3).epsilon(0.01));
  CHECK(mean(wan, 30, 500) == Approx(11.985e-3).epsilon(0.01));
  CHECK(mean(wan, 10, 500) == Approx(10.26e-3).epsilon(0.01));
  CHECK(mean(wan, 100, 1500) == Approx(52.939e-3).epsilon(0.01));
  CHECK(mean(link(1e9, 50e-6), 200, 100) == Approx(0.15403e-3).epsilon(0.05));
}

TEST_CASE("windows that come at one instant wait for one another") {
  // n clients on 100 Mbps and 10 ms send 30 kB to a server: 10 segments of each at once, then 11.
  // At 10 ms a window of 10 at 100 Mbps lasts 1.23 ms, 40 of them 4.92 ms at 1 Gbps.
  for (const auto& [clients, rate, ns3, error] : {std::tuple{40, 1e9, 35.318e-3, 0.01},
                                                  {65, 1e9, 38.489e-3, 0.03},
                                                  {300, 1e10, 34.043e-3, 0.01},
                                                  {600, 2e10, 34.236e-3, 0.01}}) {  // the last's
    INFO(clients);
    const std::vector<LinkSpec> links(static_cast<std::size_t>(clients), link(1e8, 10e-3));
    CHECK(mean_upload(links, link(rate, 10e-6), 30000) == Approx(ns3).epsilon(error));
  }
  // Negative control: 64 are no more than 10 Gbps carry.
  const std::vector<LinkSpec> links(64, link(1e8, 10e-3));
  CHECK(mean_upload(links, link(1e10, 10e-6), 30000) == Approx(31.5133e-3).epsilon(2e-3));
}

TEST_CASE("what waits too long for a small share is dropped") {
  // 30 clients of 1 Gbps and 50 us behind a server of 10 Mbps, 100 kB each: a window of 10 segments
  // waits 0.37 s for its share. 2.5265 s. 60 of 100 Mbps and 10 ms behind 100 Mbps, 200 kB:
  // 1.0786 s, by the bytes 1.03 s.
  const std::vector<LinkSpec> near(30, link(1e9, 50e-6)), far(60, link(1e8, 10e-3));
  CHECK(mean_upload(near, link(1e7, 10e-6), 100000) == Approx(2.5265).epsilon(0.05));
  CHECK(mean_upload(far, link(1e8, 10e-6), 200000) == Approx(1.0786).epsilon(0.03));
}

TEST_CASE("streams that begin together have their turns one after the other") {
  // n clients of 1 Gbps and 50 us behind 10 Mbps, 50 kB each. A turn of one is 1.23 ms, a round n
  // of them; whether a segment has waited longer than CoDel's target of 123 ms in the k-th round or
  // in the next one hangs on the client's place in the round: of 24 clients six lose a
  // retransmission, time out and end after 1.95 s, the others after 1.0. Served in step all end
  // after 1.02 s.
  for (const auto& [n, ns3] : {std::pair{24, 1.2422}, {32, 2.1824}, {36, 2.3651}}) {
    INFO(n);
    const std::vector<LinkSpec> near(static_cast<std::size_t>(n), link(1e9, 50e-6));
    CHECK(mean_upload(near, link(1e7, 10e-6), 50000) == Approx(ns3).epsilon(0.05));
  }
  // A segment of 16 clients behind 1 Mbps has its turn every 0.2 s, as long as the least timeout.
  // 11.85 s; with starts that differ by microseconds 11.5 to 12.6.
  const std::vector<LinkSpec> far(16, link(1e8, 10e-3));
  CHECK(mean_upload(far, link(1e6, 10e-6), 50000) == Approx(11.97).epsilon(0.08));
  // Negative control: 4 of 24 fill no queue for long. 50 kB take 0.167 s.
  const std::vector<LinkSpec> few(4, link(1e9, 50e-6));
  CHECK(mean_upload(few, link(1e7, 10e-6), 50000) == Approx(4 * 8 * 53150 / 1e7).epsilon(0.03));
}

TEST_CASE("a window that has opened on a fast link is too large for what the link becomes") {
  // 100 Mbps and 10 ms, 10 Mbps from 100 ms on, 2 MB: 1.58046 s, by the bytes 1.46 s.
  LinkSpec slower = link(1e8, 10e-3);
  slower.schedule = RateSchedule::from_pieces(
      "slower", {{Seconds(0), BitsPerSecond(1e8)}, {Seconds(0.1), BitsPerSecond(1e7)}}, Seconds(0));
  CHECK(mean_upload({slower}, link(1e11, 10e-6), 2000000) == Approx(1.58046).epsilon(1e-3));
}

TEST_CASE("what waits while a link is slow is judged when its turn comes") {
  const auto pieces = [](std::vector<RateSchedule::Piece> each) {
    return RateSchedule::from_pieces("changes", std::move(each), Seconds(0));
  };
  // 100 Mbps and 10 ms, but 1 Mbps from 50 to 150 ms, 300 kB: 187.045 ms. Eight segments pass while
  // it is slow; what is behind them does not wait as long as at that rate it would, and the window,
  // which filled the slow link, does not fill the fast one.
  LinkSpec dip = link(1e8, 10e-3);
  dip.schedule = pieces({{Seconds(0), BitsPerSecond(1e8)},
                         {Seconds(0.05), BitsPerSecond(1e6)},
                         {Seconds(0.15), BitsPerSecond(1e8)}});
  CHECK(mean_upload({dip}, link(1e11, 10e-6), 300000) == Approx(187.045e-3).epsilon(1e-3));
  // 32 clients behind 100 Mbps that become 1 Gbps after 0.3 s: 0.5316 s, one by one 0.53 to 0.54.
  LinkSpec grows = link(1e9, 10e-6);
  grows.schedule_back =
      pieces({{Seconds(0), BitsPerSecond(1e8)}, {Seconds(0.3), BitsPerSecond(1e9)}});
  const std::vector<LinkSpec> clients(32, link(1e8, 10e-3));
  CHECK(mean_upload(clients, grows, 300000) == Approx(0.5316).epsilon(0.05));
}

TEST_CASE("the last segment of one's turns arrives while others have theirs") {
  // 40 clients of 1 Gbps and 50 us behind as much, 2 kB each: a full segment and one of 642 B on
  // the wire. The last round takes 40 of these, 0.2 ms, and the way 60 us: 569 us to 769 us.
  const std::vector<LinkSpec> clients(40, link(1e9, 50e-6));
  const auto executor = make("flow", star_of(clients, link(1e9, 10e-6)));
  const Timeline timeline = run(*executor, uploads(0, 40, 40, 2000));
  for (std::size_t c = 0; c < 40; ++c) {
    INFO(c);
    const double ns3 = 569.049e-6 + 5.136e-6 * static_cast<double>(c);
    CHECK(timeline.ops[c].end.value() == Approx(ns3).epsilon(3e-3));
  }
}

TEST_CASE("where all send to all at once they end at once") {
  // 16 workers, 500 kB to each other one over 100 Mbps and 10 ms. In ns-3 all end within a
  // nanosecond: nobody's segments are first everywhere.
  std::vector<Route> routes;
  for (int from = 0; from < 16; ++from)
    for (int k = 1; k < 16; ++k) routes.push_back({from, (from + k) % 16, 500000});
  const auto executor = make("flow", Cluster::star(16, link(1e8, 10e-3)));
  const Timeline timeline = run(*executor, transfers(routes));
  std::vector<double> last(16, 0);
  for (std::size_t i = 0; i < routes.size(); ++i) {
    double& end = last[static_cast<std::size_t>(routes[i].destination)];
    end = std::max(end, timeline.ops[i].end.value());
  }
  for (const double end : last) CHECK(end == Approx(last[0]).epsilon(1e-9));
}

TEST_CASE("segments that come later than the timer waits are sent again") {
  // 64 kbps and 10 ms: a segment takes 0.19 s, the least timeout 0.2 s. 100 kB take 32.71 s, by the
  // bytes 13.3 s. Negative control: 128 kbps.
  const LinkSpec idle = link(1e11, 10e-6);
  CHECK(mean_upload({link(64e3, 10e-3)}, idle, 100000) == Approx(32.710).epsilon(0.05));
  CHECK(mean_upload({link(128e3, 10e-3)}, idle, 100000) == Approx(6.66).epsilon(0.02));
}

TEST_CASE("a queue with a limit is shared by all whose segments wait in it") {
  LinkSpec server = link(1e8, 10e-6);
  server.queue = Bytes(64000);
  // 8 clients of 100 Mbps and 10 ms, 500 kB each: windows of 8 x 10 segments fill 64 kB. 516.9 ms:
  // the first in each round finds what one has left, so that of some the first windows are dropped
  // whole, and they wait for their timers.
  const std::vector<LinkSpec> clients(8, link(1e8, 10e-3));
  const double limited = mean_upload(clients, server, 500000);
  CHECK(limited == Approx(516.9e-3).epsilon(0.10));
  CHECK(limited > 1.1 * mean_upload(clients, link(1e8, 10e-6), 500000));  // negative control
  // One fills the queue of its own link: 2 MB through 64 kB take 346.626 ms. An acknowledgement
  // comes when a segment leaves, but later by 8 bytes for each block that it names: one of the 229
  // segments of a window more or less finds room.
  LinkSpec own = link(1e8, 10e-3);
  own.queue = Bytes(64000);
  CHECK(mean_upload({own}, link(1e11, 10e-6), 2000000) == Approx(346.626e-3).epsilon(1e-4));
}

TEST_CASE("datagrams that come later than their deadline are not waited for") {
  // 32 clients of 100 Mbps and 10 ms send 300 kB each to a server of 1 Gbps: their links pass it in
  // 25.5 ms, the server's in 81.7 ms. With a deadline of 10 ms each ends after 25.5 + 10 + 10 ms
  // (ns-3 45.615 ms), and what the server's link has passed by then is there: 1 Gbps x 35 ms / 32
  // of 300 kB, some 128 kB.
  ExecutorOptions options;
  options.transport.protocol = TransportSettings::Protocol::kUdpLossy;
  options.transport.deadline = Seconds(10e-3);
  const std::vector<LinkSpec> clients(32, link(1e8, 10e-3));
  const Cluster cluster = star_of(clients, link(1e9, 10e-6));
  const auto executor = make("flow", cluster, options);
  const GraphId id = submit(*executor, uploads(0, 32, 32, 300000));
  CHECK(mean_end(run_to_end(*executor, id)) == Approx(45.615e-3).epsilon(0.005));
  REQUIRE(executor->missing(id).size() == 32);
  for (const MissingData& each : executor->missing(id)) {
    REQUIRE(each.ranges.size() == 1);
    CHECK(each.ranges[0].first + each.ranges[0].count == 300000);
    CHECK(double(each.ranges[0].first) == Approx(128e3).epsilon(0.1));
  }
  // Negative control: without a deadline all of it comes, in 91.6 ms.
  options.transport.deadline.reset();
  CHECK(mean_upload(clients, link(1e9, 10e-6), 300000, options) == Approx(91.6e-3).epsilon(0.01));
}

TEST_CASE("the ranks of a ring stay in step: warm hops take what they take in ns-3") {
  // Five ranks, 2.18 Gbps, 1.516 ms, 401 kB: each rank's segments and acknowledgements come at one
  // instant. Where acknowledgements come first the third round takes 15.64 ms.
  const Cluster cluster = Cluster::star(5, link(2.18e9, 0.379e-3));
  const auto executor = make("flow", cluster);
  const Step step = ring(5, 100'250);
  Seconds begin{0};
  for (const double ns3 : {0.0286036, 0.0189294, 0.0132189}) {
    const Timeline& timeline = run_to_end(*executor, submit(*executor, step, begin));
    CHECK((timeline.end - begin).value() == Approx(ns3).epsilon(0.005));
    begin = timeline.end + Seconds(15.73e-3);
  }
}
