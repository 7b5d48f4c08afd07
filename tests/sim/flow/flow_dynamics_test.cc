// Links that change, media and chance in the flow executor, worked by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <ctime>
#include <limits>

#include "sim/cluster/channel_draws.h"
#include "sim/cluster/topologies/topologies.h"
#include "sim/flow/flow_network.h"
#include "sim/flow/fluid/jitter.h"
#include "sim/flow/losses/burst_chain.h"
#include "sim/flow/shares/contention.h"
#include "sim/flow/shares/rate_follower.h"
#include "sim/flow/tcp_path.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

constexpr double kDelay = 1e-3;
constexpr double kWire = 1538;

using Pieces = std::vector<RateSchedule::Piece>;

/// Bytes a second from each time on.
RateSchedulePtr steps(std::vector<std::pair<double, double>> bytes, double period = 0) {
  Pieces pieces;
  for (const auto& [begin, rate] : bytes)
    pieces.push_back({Seconds(begin), BitsPerSecond(8 * rate)});
  return RateSchedule::from_pieces("steps", std::move(pieces), Seconds(period));
}

/// Two hosts and one link.
Cluster pair(const LinkSpec& spec) {
  Cluster cluster;
  cluster.add_host("a");
  cluster.add_host("b");
  cluster.add_link(0, 1, spec);
  cluster.finish();
  return cluster;
}

/// Windows that limit nothing, and a queue that drops nothing of them.
ExecutorOptions open_windows() {
  ExecutorOptions options;
  options.transport.constants.codel_target = 1e9;
  options.transport.initial_window = 1000000;
  options.transport.constants.first_offer = 1e12;
  options.transport.buffer = Bytes(std::int64_t{1} << 40);
  return options;
}

/// Of a fluid.
double seconds_of(const Cluster& cluster, std::int64_t segments) {
  ExecutorOptions options = open_windows();
  options.detail = Detail::kFluid;
  const auto executor = make("flow", cluster, options);
  return run(*executor, transfers({{0, 1, segments * 1448}})).end.value();
}

/// When each of the transfers has ended, all started together.
std::vector<double> ends_of(const Cluster& cluster, const std::vector<Route>& routes,
                            std::optional<Detail> detail = {}) {
  ExecutorOptions options = open_windows();
  options.detail = detail;
  const auto executor = make("flow", cluster, options);
  std::vector<double> ends;
  for (const OpRecord& op : run(*executor, transfers(routes)).ops) ends.push_back(op.end.value());
  return ends;
}

/// The same of a transport without windows, headers and acknowledgements.
std::vector<double> ideal_ends_of(const Cluster& cluster, const std::vector<Route>& routes) {
  ExecutorOptions options;
  options.transport.protocol = TransportSettings::Protocol::kIdeal;
  const auto executor = make("flow", cluster, options);
  std::vector<double> ends;
  for (const OpRecord& op : run(*executor, transfers(routes)).ops) ends.push_back(op.end.value());
  return ends;
}

}  // namespace

TEST_CASE("a transfer follows its link's rate") {
  // 1,000 segments are 1,538,000 B: 500,000 in the first half second at 1 MB/s, the other
  // 1,038,000 at 4 MB/s in 0.2595 s.
  LinkSpec spec = link(8e6, kDelay);
  spec.schedule = steps({{0, 1e6}, {0.5, 4e6}});
  CHECK(seconds_of(pair(spec), 1000) == Approx(0.5 + 0.2595 + kDelay).epsilon(1e-9));
  // The other way keeps the rate of 1 MB/s: 1.538 s.
  std::swap(spec.schedule, spec.schedule_back);
  CHECK(seconds_of(pair(spec), 1000) == Approx(1.538 + kDelay).epsilon(1e-9));
  // 0.4 s further on in it: 100,000 B in 0.1 s, 1,438,000 B at 4 MB/s.
  std::swap(spec.schedule, spec.schedule_back);
  spec.schedule_offset = Seconds(0.4);
  CHECK(seconds_of(pair(spec), 1000) == Approx(0.1 + 0.3595 + kDelay).epsilon(1e-9));
}

TEST_CASE("nothing passes at rate 0 and in an outage, and all goes on after it") {
  LinkSpec spec = link(8e6, kDelay);
  spec.schedule = steps({{0, 1e6}, {0.5, 0}, {1.5, 1e6}});
  CHECK(seconds_of(pair(spec), 1000) == Approx(1 + 1.538 + kDelay).epsilon(1e-9));
  spec.schedule = nullptr;
  spec.outages = {{Seconds(0.5), Seconds(1.5)}, {Seconds(2), Seconds(2.25)}};
  CHECK(seconds_of(pair(spec), 1000) == Approx(1.25 + 1.538 + kDelay).epsilon(1e-9));
  spec.outages = {{Seconds(0), Seconds(3)}};  // from the start
  CHECK(seconds_of(pair(spec), 1000) == Approx(3 + 1.538 + kDelay).epsilon(1e-9));
}

TEST_CASE("a schedule that repeats carries its sum in each period") {
  // 1 MB/s for 0.1 s, 3 MB/s for 0.1 s: 400,000 B every 0.2 s. 2,600 segments are 3,998,800 B:
  // 9 periods and 398,800 B, of which the last 298,800 at 3 MB/s: 1.8 + 0.1 + 0.0996.
  LinkSpec spec = link(8e6, kDelay);
  spec.schedule = steps({{0, 1e6}, {0.1, 3e6}}, 0.2);
  CHECK(seconds_of(pair(spec), 2600) == Approx(1.9996 + kDelay).epsilon(1e-9));
}

TEST_CASE("a trace carries exactly its opportunities") {
  // 19 opportunities in the first 20 ms, 2 in the next: 21 packets every 40 ms. A full segment is a
  // packet of 1,500 B with its framing, so 2,100 segments take 4 s; 2,119 end with a bin.
  std::string text;
  for (int ms = 1; ms <= 20; ++ms) text += std::to_string(ms) + "\n";
  LinkSpec spec = link(8e6, kDelay);
  spec.schedule = RateSchedule::from_mahimahi("trace", text + "40\n");
  CHECK(seconds_of(pair(spec), 2100) == Approx(4 + kDelay).epsilon(1e-9));
  CHECK(seconds_of(pair(spec), 2119) == Approx(4.02 + kDelay).epsilon(1e-9));
  CHECK(seconds_of(pair(spec), 2120) == Approx(4.03 + kDelay).epsilon(1e-9));
}

TEST_CASE("many clients of one trace, each further on, share a server") {
  // A server that is never full: every client's time is its own link's, whatever pool it is in.
  LinkSpec spec = link(8e6, kDelay);
  spec.schedule = steps({{0, 1e6}, {0.1, 0}, {0.15, 3e6}}, 0.25);
  Cluster cluster = Cluster::star(100, spec, 1, link(8e12, 0));
  std::vector<Route> routes;
  for (int w = 0; w < 100; ++w) {
    LinkSpec own = spec;
    own.schedule_offset = Seconds(0.007 * w);
    cluster.change_link(w, own);
    routes.push_back({w, 100, 1448 * (300 + w)});
  }
  const std::vector<double> ends = ends_of(cluster, routes);
  for (int w = 0; w < 100; ++w) {
    double bytes = kWire * (300 + w), at = 0.007 * w;
    while (bytes > 0) {  // walk its schedule in steps of a piece
      const double phase = std::fmod(at + 1e-9, 0.25);
      const double rate = phase < 0.1 ? 1e6 : phase < 0.15 ? 0 : 3e6;
      const double left = (phase < 0.1 ? 0.1 : phase < 0.15 ? 0.15 : 0.25) - phase;
      const double part = rate > 0 ? std::min(left, bytes / rate) : left;
      bytes -= part * rate;
      if (bytes < 1e-6) bytes = 0;
      at += std::max(part, 1e-9);
    }
    INFO(w);
    const double forwarding = kWire / 1e12;
    CHECK(ends[static_cast<std::size_t>(w)] ==
          Approx(at - 0.007 * w + kDelay + forwarding).epsilon(1e-6));
  }
}

TEST_CASE("a server's link that changes is shared evenly all the time") {
  // 40 clients of 1,000 segments on a server link of 40 MB/s, 0 from 0.5 s to 1 s: each gets 1
  // MB/s, so 1.538 s and half a second.
  LinkSpec server = link(8e9, 0);
  server.schedule_back = steps({{0, 40e6}, {0.5, 0}, {1, 40e6}});
  const Cluster cluster = Cluster::star(40, link(8e8, kDelay), 1, server);
  // The server's own link goes from the server to the switch: what it gets is the way back.
  std::vector<Route> routes;
  for (int w = 0; w < 40; ++w) routes.push_back({w, 40, 1448000});
  // Packets would take turns in the last round, a segment of 38 us each; one segment is forwarded.
  for (const double end : ends_of(cluster, routes, Detail::kFluid))
    CHECK(end == Approx(2.038 + kDelay).epsilon(1e-3));
}

TEST_CASE("both ways of a half-duplex link share its rate") {
  // Acknowledgements take 90 of 2 x 1,538 B of it. One way alone: 1 MB/s / 1.02926; both: half
  // each.
  LinkSpec spec = link(8e6, kDelay);
  const double share = 1 + 90 / (2 * kWire);
  const double alone = 1.538 * share + kDelay;
  constexpr double kGap = 36e-6;  // behind a packet, which comes before it
  CHECK(ends_of(pair(spec), {{0, 1, 1448000}})[0] == Approx(1.538 - kGap + kDelay).epsilon(2e-9));
  spec.half_duplex = true;
  // Those of the last segments come behind them, and data waits for its turn.
  CHECK(ends_of(pair(spec), {{0, 1, 1448000}})[0] == Approx(alone).epsilon(1e-4));
  const std::vector<double> both = ends_of(pair(spec), {{0, 1, 1448000}, {1, 0, 1448000}});
  CHECK(std::ranges::max(both) == Approx(2 * 1.538 * share + kDelay).epsilon(0.005));
  // On two wires each way has its data, and of 500 acknowledgements those that come before the last
  // segment.
  spec.half_duplex = false;
  for (const double end : ends_of(pair(spec), {{0, 1, 1448000}, {1, 0, 1448000}})) {
    CHECK(end == Approx(1.538 + 499 * 90e-6 - kGap + kDelay).epsilon(2e-9));
  }
}

TEST_CASE("ideal flows of a Wi-Fi cell have turns of equal size, those of an LTE cell equal time") {
  constexpr double kPayload = 1448;
  RadioCellPlan plan;
  plan.workers = 2;
  plan.places = {{5, 0}, {20, 0}};
  plan.wire = link(8e12, 0);
  const Cluster wifi = radio_cell(plan, {true, 1, {}});
  const double near = wifi.nominal_rate(0).value() / 8, far = wifi.nominal_rate(2).value() / 8;
  REQUIRE(near > 1.5 * far);
  // Each byte of each costs 1 / near + 1 / far seconds of the air.
  const double bytes = kPayload * 2000;
  const double delay = radio_of(Cell::Kind::kWifi).delay.value();
  for (const double end : ideal_ends_of(wifi, {{0, 2, 1448 * 2000}, {1, 2, 1448 * 2000}})) {
    const double contention = wifi_contention(2, 0);  // 1.09
    CHECK(end == Approx(contention * bytes * (1 / near + 1 / far) + delay).epsilon(1e-5));
  }
  // Alone, or with the other way busy, too: one medium.
  CHECK(ideal_ends_of(wifi, {{1, 2, 1448 * 2000}})[0] == Approx(bytes / far + delay).epsilon(1e-5));
  const std::vector<double> ways = ideal_ends_of(wifi, {{1, 2, 1448 * 2000}, {2, 1, 1448 * 2000}});
  CHECK(ways[0] == Approx(wifi_contention(1, 1) * 2 * bytes / far + delay).epsilon(1e-5));

  plan.kind = Cell::Kind::kLte;
  plan.width = 10e6;
  plan.places = {{50, 0}, {300, 0}};
  const Cluster lte = radio_cell(plan, {true, 1, {}});
  const double fast = lte.nominal_rate(0).value() / 8, slow = lte.nominal_rate(2).value() / 8;
  REQUIRE(fast > 2 * slow);
  // Half of the time each: in what the slow one takes for its bytes, the fast one sends fast / slow
  // times as much. Both are given what ends together.
  const auto more = static_cast<std::int64_t>(200 * fast / slow);
  const std::vector<double> ends = ideal_ends_of(lte, {{0, 2, 1448 * more}, {1, 2, 1448 * 200}});
  const double air = radio_of(Cell::Kind::kLte).delay.value();
  CHECK(ends[1] == Approx(2 * 200 * kPayload / slow + air).epsilon(1e-3));
  CHECK(ends[0] == Approx(ends[1]).epsilon(1e-2));
  // Down, two phones leave a fifth of the air unused: one of them alone, then both at once.
  const double down = lte.nominal_rate(1).value() / 8;
  CHECK(ideal_ends_of(lte, {{2, 0, 1448 * 800}})[0] ==
        Approx(800 * kPayload / down + air).epsilon(1e-3));
  const double slow_down = lte.nominal_rate(3).value() / 8;
  const auto most = static_cast<std::int64_t>(200 * down / slow_down);
  const std::vector<double> downs = ideal_ends_of(lte, {{2, 0, 1448 * most}, {2, 1, 1448 * 200}});
  CHECK(downs[1] == Approx(1.25 * 2 * 200 * kPayload / slow_down + air).epsilon(1e-2));
  // Up and down are apart, but slow each other down by 8 %.
  const std::vector<double> both = ideal_ends_of(lte, {{1, 2, 1448 * 200}, {2, 1, 1448 * 800}});
  CHECK(both[0] == Approx(1.08 * 200 * kPayload / slow + air).epsilon(1e-3));
}

TEST_CASE("contention grows with those who contend", "[unit]") {
  CHECK(wifi_contention(0, 0) == 1);
  CHECK(wifi_contention(1, 0) == 1);
  CHECK(wifi_contention(8, 0) == Approx(1.27));
  CHECK(wifi_contention(0, 8) == Approx(1.09));
  CHECK(wifi_contention(4, 3) == Approx(0.95 * 1.06));  // acknowledgements travel with data
  for (const int up : {0, 1, 8}) CHECK(lte_contention(up, 0).up == 1);
  CHECK(lte_contention(0, 1).down == 1);
  CHECK(lte_contention(0, 8).down == 1.25);
  CHECK(lte_contention(3, 3).up == Approx(1.24));
  CHECK(lte_contention(3, 3).down == Approx(1.25 * 1.24));
}

TEST_CASE("a station that moves changes its rate on the way") {
  constexpr double kPayload = 1448;
  RadioCellPlan plan;
  plan.workers = 1;
  plan.kind = Cell::Kind::kLte;
  plan.width = 10e6;
  plan.places = {{100, 50}};
  plan.wire = link(8e12, 0);
  const Cluster cluster = radio_cell(plan, {true, 1, {}});
  double left = 3000 * kPayload, end = 0;
  const auto& pieces = cluster.links()[0].spec.schedule->pieces();
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    const double rate = pieces[i].rate.value() / 8;
    const double span = (pieces[i + 1].begin - pieces[i].begin).value();
    end = pieces[i].begin.value() + std::min(span, left / rate);
    left -= std::min(span * rate, left);
    if (left <= 0) break;
  }
  REQUIRE(left == 0);
  CHECK(ideal_ends_of(cluster, {{0, 1, 1448 * 3000}})[0] ==
        Approx(end + radio_of(Cell::Kind::kLte).delay.value()).epsilon(1e-5));
}

TEST_CASE("what can never arrive is told, not waited for") {
  RadioCellPlan plan;
  plan.workers = 2;
  plan.kind = Cell::Kind::kLte;
  plan.width = 10e6;
  plan.places = {{100, 500}, {50, 0}};  // the first leaves the cell within a few seconds
  const Cluster cluster = radio_cell(plan, {true, 1, {}});
  const auto executor = make("flow", cluster);
  CHECK_THROWS_WITH(run(*executor, transfers({{0, 2, 100000000}, {1, 2, 1000}})),
                    Catch::Contains("transfer") && Catch::Contains("0"));
  // Its connection does not hold others up.
  const auto again = make("flow", cluster);
  CHECK(run(*again, transfers({{1, 2, 1000000}})).end.value() < 10);
}

TEST_CASE("links that nobody crosses cost no events") {
  LinkSpec spec = link(8e6, kDelay);
  spec.schedule = steps({{0, 1e6}, {1e-6, 2e6}}, 2e-6);
  const auto executor = make("flow", pair(spec), open_windows());
  std::vector<Event> events;
  CHECK_FALSE(executor->advance(Seconds(3600), events));  // 3.6e9 changes would take minutes
  CHECK(executor->now().value() == 3600);
}

TEST_CASE("a follower stands where its schedule says, wherever it is put") {
  Link changing;
  changing.spec.schedule = steps({{0, 1}, {0.1, 2}, {0.3, 0}}, 0.7);
  changing.spec.schedule_offset = Seconds(0.05);
  changing.spec.outages = {{Seconds(1.9), Seconds(2.1)}};
  RateFollower walker(changing, 0, kWire), jumper(changing, 0, kWire);
  int changes = 0;
  for (double t = 0; t < 20; t = walker.next(), ++changes) {
    walker.advance(t);
    jumper.seek(t);
    INFO(t);
    CHECK(jumper.rate() == walker.rate());
    CHECK(jumper.next() == walker.next());
    CHECK(walker.next() > t);
    const double phase = std::fmod(t + 0.05 + 1e-9, 0.7);
    const double expected = phase < 0.1 ? 1 : phase < 0.3 ? 2 : 0;
    CHECK(walker.rate() == (t >= 1.9 && t < 2.1 - 1e-9 ? 0 : expected));
  }
  CHECK(changes == 1 + 3 * 28 + 2 + 2);  // 20.05 s are 28 periods and two pieces; the outage's ends
}

TEST_CASE("bursts lose what their chain says") {
  LinkSpec spec = link(8e6, kDelay, 0.001);
  spec.burst = {0.01, 0.2, 0.9};
  const auto draws = [](ChannelId id) { return channel_stream(7, id, kLossDraws); };
  BurstChain chain(spec, draws(0)), same(spec, draws(0)), other(spec, draws(1));
  const int packets = 2'000'000;
  int lost = 0, next_to_lost = 0, differ = 0, others = 0;
  bool before = false;
  for (int i = 0; i < packets; ++i) {
    const bool now = chain.next();
    lost += now;
    next_to_lost += now && before;
    before = now;
    differ += now != same.next();
    others += now != other.next();
  }
  // Of the time 0.01 / 0.21 is bad: (0.2 x 0.001 + 0.01 x 0.9) / 0.21 = 0.04381.
  CHECK(lost / double(packets) == Approx(spec.mean_loss()).epsilon(0.02));
  CHECK(spec.mean_loss() == Approx(0.0438095).epsilon(1e-5));
  // After a loss in the bad state (0.9782 of them) the next is lost with 0.8 x 0.9 + 0.2 x 0.001;
  // after one in the good state with 0.99 x 0.001 + 0.01 x 0.9: 0.7047 together.
  CHECK(next_to_lost / double(lost) == Approx(0.7047).epsilon(0.01));
  CHECK(differ == 0);
  CHECK(others > lost / 2);  // another channel has bursts of its own
  CHECK_FALSE(BurstChain::is_needed(link(8e6, kDelay, 0.01)));
}

TEST_CASE("what others send ends a burst in which a connection is stuck") {
  // The bad state loses everything and is left once in 10 packets. Alone, a connection that is in
  // it sends one packet a timeout, each twice as late as the one before: 10 packets, minutes.
  // Beside others that send 1,000 packets a second it lasts 10 ms.
  LinkSpec spec = link(8e7, kDelay);
  spec.burst = {0.002, 0.1, 1};
  const auto mean_end = [&](int others) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Cluster cluster;
      const NodeId middle = cluster.add_switch("middle");
      for (int i = 0; i <= others; ++i)
        cluster.add_link(cluster.add_host("host" + std::to_string(i)), middle, link(8e7, kDelay));
      cluster.add_link(cluster.add_host("server"), middle, spec);
      cluster.finish(true);
      ExecutorOptions options;
      options.seed = seed;
      std::vector<Route> routes;
      for (int i = 0; i <= others; ++i) routes.push_back({i, others + 1, 500000});
      const auto executor = make("flow", cluster, options);
      sum += run(*executor, transfers(routes)).end.value();
    }
    return sum / 20;
  };
  // 16 connections carry 16 times as much over one link, and are through sooner than one alone.
  CHECK(mean_end(15) < mean_end(0));
}

TEST_CASE("transfers over bursty links lose that share of their segments") {
  LinkSpec spec = link(8e7, kDelay);
  spec.burst = {0.001, 0.2, 1};
  const auto executor = make("flow", pair(spec), {});
  std::int64_t again = 0;
  for (int i = 0; i < 200; ++i) {
    again += run(*executor, transfers({{0, 1, 1448 * 500}})).ops[0].retransmissions;
  }
  // Of 100,000 segments 0.001 / 0.201 are lost once, those of them again that are lost again: some
  // 100 bursts of geometric length, mean 5: sigma = sqrt(100 x 2 x 5^2) = 71.
  const double lost = 100000 * spec.mean_loss() * 1.01;
  CHECK(std::abs(static_cast<double>(again) - lost) < 4 * 71);
}

TEST_CASE("jitter delays the last segment as order and chance say") {
  // Against the definition: the largest of U_k J - k s, by draws.
  const double jitter = 5e-3;
  for (const double spacing : {1e-4, 1e-3, 2e-2}) {
    for (const int segments : {1, 3, 200}) {
      std::vector<double> drawn, solved;
      std::uint64_t draws = 0;
      const RandomStream stream{11, 0, 0, kFirstReservedTensor};
      for (int i = 0; i < 20000; ++i) {
        double latest = 0;
        for (int k = 0; k < std::min(segments, 60); ++k) {
          const auto u = static_cast<double>(uniform(stream, draws++));
          latest = std::max(latest, u * jitter - k * spacing);
        }
        drawn.push_back(latest);
        solved.push_back(jitter_of_last(jitter, spacing, segments, (i + 0.5) / 20000));
      }
      std::sort(drawn.begin(), drawn.end());
      INFO(spacing << " " << segments);
      for (const std::size_t at : {2000u, 10000u, 18000u}) {
        CHECK(solved[at] == Approx(drawn[at]).margin(0.02 * jitter));
      }
    }
  }
  CHECK(jitter_of_last(0, 1, 5, 0.5) == 0);
}

TEST_CASE("jitter keeps the order of deliveries and the rate") {
  LinkSpec spec = link(8e6, kDelay);
  spec.jitter = Seconds(20e-3);
  const auto executor = make("flow", pair(spec), open_windows());
  std::vector<Route> routes(50, Route{0, 1, 1448});
  const Timeline timeline = run(*executor, transfers(routes));
  double last = 0, sum = 0;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const double end = timeline.ops[i].end.value();
    const double sent = static_cast<double>(i + 1) * kWire / 1e6;
    CHECK(end >= last);
    CHECK(end >= sent + kDelay - 1e-12);
    CHECK(end <= sent + kDelay + 20e-3 + 1e-12);
    last = end;
    sum += end - sent - kDelay;
  }
  // A packet every 1.5 ms and 20 ms of jitter: the latest of the last 13 or so. (The mean of one
  // draw each would be half of it.)
  CHECK(sum / 50 > 0.55 * 20e-3);
}

TEST_CASE("keys of connections that differ beyond 32 bits draw differently") {
  // 70,000 hosts: connection (61,356, 47,296) has 61,356 x 70,000 + 47,296 = 2^32 + 0 for its key.
  const std::uint64_t key = 61'356ull * 70'000 + 47'296;
  REQUIRE(key == std::uint64_t{1} << 32);
  const RandomStream first = connection_stream(1, 0, 0, 7),
                     wrapped = connection_stream(1, 0, key, 7);
  int differ = 0;
  for (std::uint64_t i = 0; i < 100; ++i) differ += uniform(first, i) != uniform(wrapped, i);
  CHECK(differ > 90);
}

namespace {

/// Of this thread: what else runs on the machine does not count.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

TEST_CASE("cancelling many transfers takes time in proportion to their number") {
  // Each host of a star sends to all others; then all is cancelled, half of it beside new
  // transfers. Four times as many took sixteen times as long while each was looked for among all.
  const auto seconds = [](int hosts) {
    double best = 1e9;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const Cluster cluster = Cluster::star(hosts, link(1e9, kDelay));
      FlowNetwork network(cluster, {}, 1);
      TransferId ids = 0;
      for (int a = 0; a < hosts; ++a)
        for (int b = 0; b < hosts; ++b)
          if (a != b) network.start(ids++, a, b, Bytes(1000));
      const TransferId first = ids;
      const double begin = processor_seconds();
      for (TransferId id = 0; id < first; ++id) {
        network.cancel(id);
        if (id % 2 == 0) network.start(ids++, 0, 1, Bytes(1000));
        if (id % 2 == 0) network.cancel(ids - 1);
      }
      best = std::min(best, processor_seconds() - begin);
      std::vector<Delivery> delivered;
      network.advance(Seconds(10), delivered);
      CHECK(delivered.empty());
      network.start(ids, 0, 1, Bytes(1000));  // negative control
      network.advance(Seconds(20), delivered);
      CHECK(delivered.size() == 1);
    }
    return best;
  };
  CHECK(seconds(240) < 100 * seconds(60));  // 57,360 and 3,540 transfers
}

TEST_CASE("an LTE cell of many phones carries less than one of few") {
  // 50 m, 100 kB up and then down each: ns-3 240.3 ms in the mean for 8 phones, 815.5 for 20, 1,998
  // for 40; by turns alone 234, 579 and 1,136.
  CHECK(lte_contention(8, 0).up == 1);  // negative control
  CHECK(579 * lte_contention(20, 0).up == Approx(815.5).epsilon(0.15));
  CHECK(1136 * lte_contention(40, 0).up == Approx(1998).epsilon(0.15));
  // 30 phones, 100 kB down each: 2.116 s, by turns alone 0.978 x 1.25.
  CHECK(0.978 * lte_contention(0, 30).down / 1.25 == Approx(2.116).epsilon(0.05));
  // Both ways slow each other down no more than among 8 of each.
  CHECK(lte_contention(27, 27).up == Approx(1.64 * lte_contention(27, 0).up));
}
