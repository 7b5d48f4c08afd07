// Queues with a limit, which are first come, first served, held against ns-3 3.44 (the executor
// `packet` with the same transfers): nanosecond by nanosecond, losses and timeouts too.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "sim/transport/calibration.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

constexpr double kNanosecond = 1e-9;

LinkSpec queued(double rate, double delay, std::int64_t bytes) {
  LinkSpec spec = link(rate, delay);
  spec.queue = Bytes(bytes);
  return spec;
}

Cluster star(int hosts, const LinkSpec& each) {
  Cluster cluster;
  std::vector<NodeId> ends;
  for (int h = 0; h < hosts; ++h) ends.push_back(cluster.add_host("h" + std::to_string(h)));
  const NodeId middle = cluster.add_switch("middle");
  for (const NodeId end : ends) cluster.add_link(end, middle, each);
  cluster.finish(1);
  return cluster;
}

/// Two hosts on either side, the lower numbers on one.
Cluster dumb_bell(const LinkSpec& each, const LinkSpec& between) {
  Cluster cluster;
  std::vector<NodeId> ends;
  for (int h = 0; h < 4; ++h) ends.push_back(cluster.add_host("h" + std::to_string(h)));
  const NodeId left = cluster.add_switch("left"), right = cluster.add_switch("right");
  for (std::size_t h = 0; h < 4; ++h) cluster.add_link(ends[h], h < 2 ? left : right, each);
  cluster.add_link(left, right, between);
  cluster.finish(1);
  return cluster;
}

/// s: when each arrives, all begun at 0.
void check(const Cluster& cluster, const std::vector<Route>& routes,
           const std::vector<double>& ns3) {
  const auto executor = make("flow", cluster);
  const Timeline& timeline = run_to_end(*executor, submit(*executor, transfers(routes)));
  REQUIRE(timeline.ops.size() == ns3.size());
  for (std::size_t i = 0; i < ns3.size(); ++i) {
    INFO(i);
    CHECK(timeline.ops[i].end.value() == Approx(ns3[i]).epsilon(0).margin(10 * kNanosecond));
  }
}

}  // namespace

TEST_CASE("what comes first to a sender's queue is sent first") {
  // A full segment takes 8 x 1,538 / 10 Mbps = 1.2304 ms a link, of which the 28.8 us of a gap pass
  // behind it: 2 x 1.2304 + 2 - 2 x 0.0288 = 4.4032 ms, and the second one 1.2304 ms more.
  const double first = 2 * 8 * 1538 / 10e6 + 2 * 1e-3 - 2 * 8 * 36 / 10e6;
  const double second = first + 8 * 1538 / 10e6;
  CHECK(first == Approx(0.0044032));
  check(star(3, queued(10e6, 1e-3, 30'000)), {{2, 0, 1448}, {2, 1, 1448}}, {first, second});
}

TEST_CASE("a window of which the queue drops the tail waits for a timeout") {
  // Nine segments fit, one on the wire and eight of 1,500 B in the queue; the tenth is gone, and
  // nothing behind it tells: it is sent again 200 ms after the last acknowledgement.
  const Cluster cluster = star(2, queued(100e6, 5.42e-3, 12'600));
  check(cluster, {{1, 0, 9 * 1448}}, {0.012064641});
  check(cluster, {{1, 0, 10 * 1448}}, {0.233993601});
  check(cluster, {{1, 0, 100 * 1448}}, {0.144625281});
  // Three messages of eight segments where seventeen fit: seven of the last one are lost.
  check(star(4, queued(86e6, 18e-3, 24'000)), {{3, 0, 11'400}, {3, 1, 11'400}, {3, 2, 11'400}},
        {0.037263817, 0.038391261, 0.495957959});
}

TEST_CASE("acknowledgements wait behind data in a queue that is first come, first served") {
  check(star(3, queued(10e6, 1e-3, 30'000)), {{0, 1, 60'000}, {1, 0, 60'000}, {2, 0, 60'000}},
        {0.086100801, 0.300273601, 0.105286401});
}

TEST_CASE("who loses where two send evenly is who comes second by ns-3's order of events") {
  check(star(3, queued(20e6, 2e-3, 20'000)), {{0, 2, 100'000}, {1, 2, 100'000}},
        {0.179635201, 0.060640801});
  check(dumb_bell(queued(20e6, 2e-3, 20'000), queued(10e6, 3e-3, 20'000)),
        {{0, 2, 100'000}, {1, 3, 100'000}}, {0.160884801, 0.332976001});
}

TEST_CASE("of what comes at one instant over links without a limit ns-3's order decides, too") {
  // Sixteen send 300 kB each through 1 Gbps with 512 kB of queue. A sender's second segment comes
  // when the next one's first does: that one came to an idle link, and is first. (In turns of the
  // two, which segments are dropped differs: none would time out, the last one arrive after 41.0
  // ms.)
  Cluster cluster;
  std::vector<NodeId> ends;
  for (int h = 0; h < 16; ++h) ends.push_back(cluster.add_host("h" + std::to_string(h)));
  const NodeId server = cluster.add_host("server"), middle = cluster.add_switch("middle");
  for (const NodeId end : ends) cluster.add_link(end, middle, link(1e9, 50e-6));
  cluster.add_link(server, middle, queued(1e9, 10e-6, 512'000));
  cluster.finish(1);
  std::vector<Route> routes;
  for (int h = 0; h < 16; ++h) routes.push_back({h, 16, 300'000});
  check(cluster, routes,
        {40.666337e-3, 40.678641e-3, 40.690945e-3, 40.703249e-3, 40.727857e-3, 39.224913e-3,
         39.240049e-3, 39.279793e-3, 40.303857e-3, 40.785569e-3, 40.767601e-3, 40.782737e-3,
         40.800705e-3, 40.815841e-3, 40.601985e-3, 229.758529e-3});
}

TEST_CASE("a queue with a limit before a link that is out fills and drops") {
  LinkSpec each = queued(20e6, 2e-3, 20'000);
  each.outages = {{Seconds(10e-3), Seconds(40e-3)}};
  check(star(3, each), {{0, 2, 100'000}}, {0.082762401});
  check(star(3, each), {{0, 2, 100'000}, {1, 2, 100'000}}, {0.326214401, 0.091284801});
}

namespace {

ExecutorOptions linux_rules() {
  ExecutorOptions options;
  options.transport.constants = shipped_calibration("linux").constants;
  return options;
}

/// Segments sent again of one message between two hosts.
std::int64_t sent_again(const LinkSpec& each, std::int64_t segments,
                        const ExecutorOptions& options) {
  const auto executor = make("flow", star(2, each), options);
  const Step step = transfers({{1, 0, segments * 1448}});
  return run(*executor, step).ops[0].retransmissions;
}

}  // namespace

TEST_CASE("by Linux's rules what is on the wire is in the queue, as the emulator has it") {
  // A segment takes 8 x 1,538 / 10 Mbps a link, whole, and 1 ms: twice, and once more for the next.
  const double segment = 8 * 1538 / 10e6;
  const auto executor = make("flow", star(3, queued(10e6, 1e-3, 30'000)), linux_rules());
  const Timeline timeline = run(*executor, transfers({{2, 0, 1448}, {2, 1, 1448}}));
  CHECK(timeline.ops[0].end.value() == Approx(2 * segment + 2e-3).epsilon(1e-9));
  CHECK(timeline.ops[1].end.value() == Approx(3 * segment + 2e-3).epsilon(1e-9));
  // Of a window 12,600 B hold eight segments of 1,538 B; in ns-3 one on the wire and eight of
  // 1,500.
  const LinkSpec each = queued(100e6, 5.42e-3, 12'600);
  CHECK(sent_again(each, 8, linux_rules()) == 0);
  CHECK(sent_again(each, 9, linux_rules()) > 0);
  CHECK(sent_again(each, 9, {}) == 0);
  CHECK(sent_again(each, 10, {}) > 0);
}

TEST_CASE("drop tail: what is written is sent when the acknowledgement before it is on the wire") {
  // A ring that gathers 8.85 kB of each of four over 377 Gbps, 32 ms and 8.78 kB of queue. A rank
  // acknowledges a message's last segment and writes the next message, 7 segments, of 9,214 B
  // without framing. With the acknowledgement on the wire one of them has the place behind it, and
  // six, 7,714 B, are in the queue: ns-3 loses none, and is through after three hops, the second
  // one of two round trips (0.256000440 s). Written at the instant of the acknowledgement the
  // segment of the place would still be in the queue, and one be dropped: 0.584 s.
  const auto executor = make("flow", star(4, queued(377e9, 32e-3, 8780)));
  GraphBuilder builder;
  builder.add_collective(ring_spec(CollectiveKind::kRingAllGather, 4, 0), "all-gather");
  const Step step(builder.finish(), {8850, 8850, 8850, 8850});
  CHECK(run(*executor, step).end.value() ==
        Approx(0.256000440).epsilon(0).margin(10 * kNanosecond));
}
