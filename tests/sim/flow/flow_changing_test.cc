// Links that change under TCP.
#include <catch2/catch.hpp>
#include <vector>

#include "sim/flow/shares/rate_follower.h"
#include "sim/flow/tcp/fair_queue.h"
#include "sim/flow/tcp_path.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

TEST_CASE("a link that becomes faster holds nothing back by the rate it had at first") {
  // 40.6 Mbps, twice as much later, behind a client's 81.2 Mbps: segments come as fast as the
  // client sends them. (8 / 40.6e6 times its inverse is less than 1.)
  constexpr double kRate = 40.6e6;
  LinkSpec server = link(kRate, 1e-3);
  server.schedule = server.schedule_back = RateSchedule::from_pieces(
      "faster", {{Seconds(0), BitsPerSecond(kRate)}, {Seconds(0.1), BitsPerSecond(2 * kRate)}},
      Seconds(0));
  const Cluster cluster = Cluster::star(1, link(2 * kRate, 1e-3), 1, server);
  std::vector<ChannelId> route;
  cluster.route(0, 1, route);
  CHECK(TcpPath(cluster, route, {}).second_hop == Approx(4 / kRate));
  // Of a link that changes and is not the slowest nothing is known: it may be fast.
  const Cluster faster = Cluster::star(1, link(kRate / 2, 1e-3), 1, server);
  CHECK(TcpPath(faster, route, {}).second_hop == 0);
}

namespace {

/// 8 kbps, half as much from 1 s on; out from 2 to 3 s.
struct SlowLink {
  SlowLink() {
    one.spec = link(8e3, 0);
    one.spec.schedule = one.spec.schedule_back = RateSchedule::from_pieces(
        "slower", {{Seconds(0), BitsPerSecond(8e3)}, {Seconds(1), BitsPerSecond(4e3)}}, Seconds(0));
    one.spec.outages.push_back({Seconds(2), Seconds(3)});
  }
  RateFollower follower() const { return {one, 0, 1538}; }
  Link one;
};

}  // namespace

TEST_CASE("a packet's time on a link that changes is the integral of its rate") {
  const SlowLink link;
  ChangingWire wire(link.follower());
  CHECK(wire.through(0, 500) == Approx(0.5));  // 1,000 B/s
  CHECK(wire.through(0.5, 500) == Approx(1));
  CHECK(wire.through(0.5, 750) == Approx(1.5));   // 500 B, then 250 at 500 B/s
  CHECK(wire.through(0.5, 1000) == Approx(2));    // all of it, to the outage
  CHECK(wire.through(0.5, 1250) == Approx(3.5));  // which it waits out
  CHECK(wire.through(2.5, 500) == Approx(4));     // begun while the link is out
}

TEST_CASE("a packet after 10^9 repetitions of a schedule is through as the first was") {
  Link repeats;
  repeats.spec = link(8e3, 0);
  repeats.spec.schedule = repeats.spec.schedule_back = RateSchedule::from_pieces(
      "a period", {{Seconds(0), BitsPerSecond(8e3)}, {Seconds(0.5e-3), BitsPerSecond(4e3)}},
      Seconds(1e-3));
  ChangingWire wire(RateFollower(repeats, 0, 1538));
  // Each millisecond carries .5 + .25 bytes.
  CHECK(wire.through(0, 0.75) == Approx(1e-3));
  CHECK(wire.through(1e6, 750) - 1e6 == Approx(1).margin(1e-3));
}

TEST_CASE("a link that goes out for good lets nothing through") {
  Link gone;
  gone.spec = link(8e3, 0);
  gone.spec.outages.push_back({Seconds(1), kForever});
  ChangingWire wire(RateFollower(gone, 0, 1538));
  CHECK(wire.through(0.5, 500) == Approx(1));
  CHECK(wire.through(0.5, 501) >= kForever.value());
}

TEST_CASE("a queue before a link that changes has no place behind the wire") {
  const SlowLink link;
  FairQueue queue({0.005, 0.1}, 1538, 38, 10'240);
  queue.set_wire(link.follower());
  const std::int32_t flow = queue.add_flow();
  for (const int number : {0, 1, 2}) queue.push(flow, {0, number, 500, 0});
  CHECK(queue.take(0, 1).departure == Approx(0.5));
  // The second leaves when the first is through. On a link that never changes: at once, to wait
  // behind it.
  CHECK(queue.next_turn() == Approx(0.5));
  CHECK(queue.take(0.5, 1).departure == Approx(1));
  CHECK(queue.take(1, 1).departure == Approx(2));
}
