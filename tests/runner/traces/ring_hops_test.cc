#include "runner/traces/ring_hops.h"

#include <catch2/catch.hpp>

#include "results/prediction/step_model.h"
#include "tests/runner/traces/resting_links.h"

using namespace gradwire;
using namespace gradwire::runner;

namespace {

/// Payload of a hop that takes `seconds` at 8 Mbps, headers, acknowledgements and all.
double payload(double seconds) {
  return seconds * 1e6 * results::usual_constants()[0] / (1 + results::kAcknowledgements);
}

}  // namespace

TEST_CASE("As fluids, hops wait for the one before and for their own last bytes") {
  // Three workers, worker r 2 s r ahead of a schedule that carries for 5 s of 10. A hop takes 1 s.
  //   hop 0: all begin at 0: worker 0 carries 0-5, worker 1 (2 s ahead) 0-3 and 8-13, worker 2
  //          (4 s ahead) 0-1 and 6-11: all have sent at 1.
  //   hop 1: worker 0 by 2, worker 1 by 2, worker 2 rests from 1 to 6: by 7. Mean 11 / 3.
  //   hop 2: worker 0 has received from 2 at 7: it rests from 5 to 10: by 11; worker 1 received at
  //          2, by 3; worker 2 at 2, its own last bytes at 7, by 8. Mean 22 / 3.
  const sim::Cluster cluster = resting_star(3, resting_from(5), 2, 0);
  FluidRing fluid(cluster, 3, 0);
  const RingHop hop{payload(1), 0};
  CHECK(fluid.receive(hop) == Approx(1));
  CHECK(fluid.receive(hop) == Approx(11.0 / 3));
  CHECK(fluid.receive(hop) == Approx(22.0 / 3));
}

TEST_CASE("As fluids, a slow link streams its hops: it does not wait until each is received") {
  // Worker 0 sends at 8 Mbps, worker 1 at once; .1 s one way. Two hops of .5 s: worker 1's is there
  // at .1, so worker 0 sends from 0 to 1, received at 1.1, and worker 1's second at .7.
  sim::LinkSpec link;
  link.rate = BitsPerSecond(1e15);
  link.delay = Seconds(0);
  sim::Cluster cluster = sim::Cluster::star(2, link);
  link.schedule = sim::RateSchedule::from_pieces(
      "slow", {{Seconds(0), BitsPerSecond(8e6)}, {Seconds(1), BitsPerSecond(8e6)}}, Seconds(2));
  cluster.change_link(0, link);
  FluidRing fluid(cluster, 2, 0.1);
  CHECK(fluid.receive({payload(0.5), 0}) == Approx((0.6 + 0.1) / 2));
  CHECK(fluid.receive({payload(0.5), 0}) == Approx((1.1 + 0.7) / 2));
  // The negative control: where both are as slow, each waits for the other's delay.
  link.schedule_back = link.schedule;
  cluster.change_link(1, link);
  FluidRing both(cluster, 2, 0.1);
  CHECK(both.receive({payload(0.5), 0}) == Approx(0.6));
  CHECK(both.receive({payload(0.5), 0}) == Approx(1.2));
}

TEST_CASE("By flow, a ring whose links never rest is near its fluid") {
  const auto steady = sim::RateSchedule::from_pieces(
      "steady", {{Seconds(0), BitsPerSecond(8e6)}, {Seconds(5), BitsPerSecond(8e6)}}, Seconds(10));
  const sim::Cluster cluster = resting_star(4, steady, 0, 0);
  const std::vector<RingHop> hops(12, {payload(0.5), 0});
  FluidRing fluid(cluster, 4, 0.02);
  double last = 0;
  for (const RingHop& hop : hops) last = fluid.receive(hop);
  CHECK(last == Approx(12 * 0.52));
  const auto flow = received_by_flow(cluster, {}, 4, hops, 1e6);
  REQUIRE(flow.size() == hops.size());
  CHECK(flow.back() == Approx(last).epsilon(0.1));
  CHECK(std::ranges::is_sorted(flow));
  // A hop is 4 messages of 327 packets: 135. So much work is two hops.
  CHECK(received_by_flow(cluster, {}, 4, hops, 280).size() == 2);
}

TEST_CASE("By flow, rests cost a ring more than their length") {
  // Three workers by turns; timeouts, which double while a link rests, outlast the rests, and
  // acknowledgements rest with the data of their link.
  const sim::Cluster cluster = resting_star(3, resting_from(8), 3, 0);
  const std::vector<RingHop> hops(20, {payload(1), 0});
  FluidRing fluid(cluster, 3, 0.02);
  double last = 0;
  for (const RingHop& hop : hops) last = fluid.receive(hop);
  const auto flow = received_by_flow(cluster, {}, 3, hops, 1e6);
  CHECK(flow.back() > last);
  CHECK(flow.back() < 2.2 * last);
}
