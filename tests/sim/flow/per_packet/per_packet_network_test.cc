// Datagrams over wires, packet by packet: worked examples, and what ns-3 3.44 says of the same
// transfers (the executor `packet`).
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

constexpr double kMicrosecond = 1e-6, kNanosecond = 1e-9;

ExecutorOptions datagrams() {
  ExecutorOptions options;
  options.transport.protocol = TransportSettings::Protocol::kUdpLossy;
  return options;
}

LinkSpec with_queue(LinkSpec spec, std::int64_t bytes) {
  spec.queue = Bytes(bytes);
  return spec;
}

struct Outcome {
  std::vector<double> ends;           ///< s
  std::vector<std::int64_t> missing;  ///< bytes, of each transfer
};

Outcome run_datagrams(const Cluster& cluster, const std::vector<Route>& routes) {
  const auto executor = make("flow", cluster, datagrams());
  const GraphId id = submit(*executor, transfers(routes));
  const Timeline& timeline = run_to_end(*executor, id);
  Outcome outcome;
  outcome.missing.resize(routes.size());
  for (const OpRecord& op : timeline.ops) outcome.ends.push_back(op.end.value());
  for (const MissingData& each : executor->missing(id))
    for (const ByteRange& range : each.ranges) outcome.missing[each.op] += range.count;
  return outcome;
}

}  // namespace

TEST_CASE("datagrams that meet wait for one another on every link", "[unit]") {
  // 10 segments each of two hosts for a third: 1,538 us each at 8 Mbps, of which 36 follow a
  // packet. The first come to the switch after 1,502 us and 1 ms; its link passes one of each in
  // turn: the last of 20 is there after 1,502 + 1,000 + 19 x 1,538 + 1,502 + 1,000 us.
  const Outcome outcome =
      run_datagrams(Cluster::star(3, link(8e6, 1e-3)), {{0, 2, 14480}, {1, 2, 14480}});
  CHECK(outcome.ends[0] == Approx((34'226 - 1'538) * kMicrosecond).margin(kNanosecond));
  CHECK(outcome.ends[1] == Approx(34'226 * kMicrosecond).margin(kNanosecond));
  CHECK(outcome.missing == std::vector<std::int64_t>{0, 0});
  // Negative control: alone the first takes 9 segments less in the switch.
  const Outcome alone = run_datagrams(Cluster::star(3, link(8e6, 1e-3)), {{0, 2, 14480}});
  CHECK(alone.ends[0] == Approx((34'226 - 10 * 1'538) * kMicrosecond).margin(kNanosecond));
}

TEST_CASE("a full queue drops datagrams for good", "[unit]") {
  // The same with room for one packet of 1,500 B, beside one in the device's place and one on the
  // wire. The first ones: 0's is sent, 1's gets the place once all of that instant are there. From
  // then on 0's next one gets the room and 1's, which comes after it, none. What passes is
  // 0's first, 1's first, and 0's other nine: the last is there after 1,502 + 1,000 + 10 x 1,538 +
  // 1,502 + 1,000 us.
  const Cluster cluster = Cluster::star(3, with_queue(link(8e6, 1e-3), 1500));
  const Outcome outcome = run_datagrams(cluster, {{0, 2, 14480}, {1, 2, 14480}});
  CHECK(outcome.ends[0] == Approx(20'384 * kMicrosecond).margin(kNanosecond));
  CHECK(outcome.missing == std::vector<std::int64_t>{0, 13032});
  // 1's receiver waits for its last segment, which left after 9 x 1,538 us, the way of 2 ms and two
  // segments and as long as both queues can hold it, 1.5 ms each.
  CHECK(outcome.ends[1] == Approx(21'918.001 * kMicrosecond).margin(kNanosecond));
}

TEST_CASE("datagrams wait in a half-duplex medium for those that come back", "[unit]") {
  // One segment each way, between two hosts and a switch at 8 Mbps without delay: on 0's link 0's
  // is first, on 1's link 1's; each comes to the switch after 1,538 us (packet's own device, of
  // which the gap is a part), when the other one's is through, too: 3,076 us in all.
  LinkSpec half = link(8e6, 0);
  half.half_duplex = true;
  const Outcome outcome = run_datagrams(Cluster::star(2, half), {{0, 1, 1448}, {1, 0, 1448}});
  CHECK(outcome.ends[0] == Approx(3'076 * kMicrosecond).margin(kNanosecond));
  CHECK(outcome.ends[1] == Approx(3'076 * kMicrosecond).margin(kNanosecond));
  // A second one of 0's begins on 0's link before 1's comes to the switch: that waits for it.
  const std::vector<Route> second = {{0, 1, 2896}, {1, 0, 1448}};
  CHECK(run_datagrams(Cluster::star(2, half), second).ends[1] ==
        Approx(4'614 * kMicrosecond).margin(kNanosecond));
  // Negative control: over wires it does not.
  CHECK(run_datagrams(Cluster::star(2, link(8e6, 0)), second).ends[1] ==
        Approx((3'076 - 2 * 36) * kMicrosecond).margin(kNanosecond));
}
