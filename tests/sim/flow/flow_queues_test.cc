// Many streams that meet before one link, held against ns-3 3.44 (the executor `packet` with the
// same scenario): mean and last end of a transfer by each of n clients to a server, all at once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

struct Ends {
  double mean = 0;  ///< s
  double last = 0;  ///< s
};

Ends ends(int clients, const LinkSpec& client, const LinkSpec& server, std::int64_t bytes,
          bool down = false) {
  const Cluster cluster = Cluster::star(clients, client, 1, server);
  std::vector<Route> routes;
  for (int c = 0; c < clients; ++c)
    routes.push_back(down ? Route{clients, c, bytes} : Route{c, clients, bytes});
  const auto executor = make("flow", cluster);
  const Timeline timeline = run(*executor, transfers(routes));
  Ends result;
  for (const OpRecord& op : timeline.ops) {
    result.mean += op.end.value() / clients;
    result.last = std::max(result.last, op.end.value());
  }
  return result;
}

/// Rounds of n clients, 2 ms or more apart, client k each time `stagger` k later.
std::vector<Ends> rounds(int clients, const LinkSpec& client, const LinkSpec& server,
                         std::int64_t bytes, double gap, double stagger = 0) {
  GraphBuilder builder;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(clients), bytes);
  std::vector<double> seconds;
  std::vector<OpIndex> sent;
  for (int c = 0; c < clients; ++c) {
    const std::vector<OpIndex> after{
        builder.add_operation(OpKind::kCompute, Lane::kNone, c, "wait")};
    sent.push_back(builder.add_transfer(c, clients, "transfer", {}, after));
    seconds.insert(seconds.end(), {stagger * c, 0});
  }
  const Step step(builder.finish(), sizes, seconds);
  const auto executor = make("flow", Cluster::star(clients, client, 1, server));
  std::vector<Ends> result;
  Seconds begin{0};
  for (int round = 0; round < 3; ++round) {
    const Timeline& timeline = run_to_end(*executor, submit(*executor, step, begin));
    result.emplace_back();
    for (const OpIndex op : sent) {
      const double end = (timeline.ops[op].end - begin).value();
      result.back().mean += end / clients;
      result.back().last = std::max(result.back().last, end);
    }
    begin = timeline.end + Seconds(gap);
  }
  return result;
}

void check_rounds(const std::vector<Ends>& flow, const std::vector<Ends>& ns3) {
  for (std::size_t round = 0; round < ns3.size(); ++round) {
    INFO(round);
    CHECK(flow[round].mean == Approx(ns3[round].mean).epsilon(0.003));
    CHECK(flow[round].last == Approx(ns3[round].last).epsilon(0.003));
  }
}

}  // namespace

TEST_CASE("the queue of many streams drops whose turn it is") {
  // Not all at one instant, and by the time of the link that they wait for: CoDel's target is 5 ms
  // before 300 Mbps, not the 12.3 ms of the clients' links.
  struct Case {
    int clients;
    double client_rate, delay, server_rate;
    std::int64_t bytes;
    Ends ns3;
  };
  for (const Case& c : {Case{97, 48.5e6, 4.965e-3, 203e6, 130000, {0.53610, 0.53901}},
                        {120, 100e6, 10e-3, 60e6, 300000, {5.0232, 5.2781}},
                        {300, 100e6, 10e-3, 300e6, 300000, {2.5583, 2.5935}}}) {
    INFO(c.clients);
    const Ends flow =
        ends(c.clients, link(c.client_rate, c.delay), link(c.server_rate, 10e-6), c.bytes);
    CHECK(flow.mean == Approx(c.ns3.mean).epsilon(0.01));
    CHECK(flow.last == Approx(c.ns3.last).epsilon(0.01));
  }
}

TEST_CASE("what waits already when the last segment is sent may still be dropped") {
  // 16 segments by each of 28 clients of 12.4 Mbps to 31.1 Mbps: some lose one near the end and
  // wait for a timeout, 0.461 s. By the bytes alone 0.176 s.
  const Ends flow = ends(28, link(12.4e6, 0.3655e-3), link(31.1e6, 10e-6), 22800);
  CHECK(flow.mean == Approx(0.20208).epsilon(0.005));
  CHECK(flow.last == Approx(0.46118).epsilon(0.005));
}

TEST_CASE("what CoDel drops of warm windows is known when it is known how many share the link") {
  // The same again, 2 ms later: each window of 16 goes out at once and waits 16 x 28 x 0.396 ms at
  // most, longer than CoDel's target and interval of 39.7 and 100 ms. As fluids all would end after
  // 0.175 s, three times.
  const std::vector<Ends> ns3{{0.202077, 0.461176}, {0.168514, 0.175926}, {0.193707, 0.382659}};
  const LinkSpec client = link(12.4e6, 0.3655e-3), server = link(31.1e6, 10e-6);
  check_rounds(rounds(28, client, server, 22800, 2e-3), ns3);
  // Nor does it count that clients begin within 2 us of each other: what is on its way to the queue
  // counts for those that begin while it is. (0.176, 0.494, 0.175 s where it does not.)
  check_rounds(rounds(28, client, server, 22800, 2e-3, 7e-8), ns3);
}

TEST_CASE("an acknowledgement comes to its sender's full queue before a segment leaves it") {
  // One flow over two links of 1 Gbps and 4 ms, 16 packets in the queue before each. In slow start
  // the j-th acknowledgement (j = 0, 1, ...) of a round comes two segments' times after the one
  // before, and lets out four; at that instant the segment 2 j - 1 is about to leave the wire and
  // one waits in the device's place, so that 4 j - (2 j + 1) are in the queue. Of the four of j =
  // 7, which find 13, one is dropped. Would a segment leave first it were none: 0.0732 and 0.0730 s
  // in place of the last two.
  const LinkSpec each{BitsPerSecond(1e9), Seconds(4e-3), 0, Bytes(25'000)};
  const std::vector<Ends> flow = rounds(1, each, each, 363'000, 7e-3);
  check_rounds(flow, {{0.104847, 0.104847}, {0.088534, 0.088534}, {0.120466, 0.120466}});
}

TEST_CASE("a queue of more than 10,240 packets drops of the longest") {
  // 300 clients of 100 Mbps and 10 ms, 300 kB each to 1 Gbps: some lose so much that they time out.
  const Ends flow = ends(300, link(100e6, 10e-3), link(1e9, 10e-6), 300000);
  CHECK(flow.mean == Approx(0.770422).epsilon(0.005));
  CHECK(flow.last == Approx(0.927309).epsilon(0.005));
}
