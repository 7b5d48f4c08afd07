#include "runner/traces/served_exchanges.h"

#include <catch2/catch.hpp>

#include "results/prediction/step_model.h"
#include "tests/runner/traces/resting_links.h"

using namespace gradwire;
using namespace gradwire::runner;

namespace {

/// Payload that takes `seconds` at 8 Mbps, headers and all.
double payload(double seconds) {
  return seconds * 1e6 * results::usual_constants()[0];
}

}  // namespace

TEST_CASE("As fluids, the last to push is waited for, and each pulls by itself") {
  // Worker 1 is 5 s ahead: it rests from 0 to 5, pushes 1 s by 6; both pull .5 s by 6.5. Next
  // pauses of .1: worker 0 begins at 6.6 and rests until 10: pushed at 11, pulled at 11.5.
  const sim::Cluster cluster = resting_star(2, resting_from(5), 5, 1);
  FluidServer fluid(cluster, 2, 0, 0);
  const ServedExchange exchange{.push = payload(1), .pull = payload(0.5), .pause = 0};
  CHECK(fluid.receive(exchange) == Approx(6.5));
  CHECK(fluid.receive({exchange.push, exchange.pull, 0.1}) == Approx(11.5));
}

TEST_CASE("As fluids, a server's own link carries all workers' bytes") {
  // 4 workers of 1 MB on the wire at 2 MB/s: 2 s there, 1 s back, .01 s each way.
  const sim::Cluster cluster = resting_star(4, resting_from(9), 0, 1);
  FluidServer fluid(cluster, 4, 0.01, 2e6);
  CHECK(fluid.receive({payload(1), payload(0.5), 0}) == Approx(3.02));
  // The negative control: nothing but the workers' own links.
  FluidServer wide(cluster, 4, 0.01, 0);
  CHECK(wide.receive({payload(1), payload(0.5), 0}) == Approx(1.52));
}

TEST_CASE("By flow, timeouts that double outlast a rest") {
  // 4 MB from 6 s on, which rests from 9 to 10: the fluid is there after its bytes and 1 s more;
  // TCP's window, full at 9, is sent again only when a timeout says so.
  const sim::Cluster cluster = resting_star(1, resting_from(9), 0, 1);
  const std::vector<ServedExchange> one = {{payload(4), 1, 6}};
  const double fluid = FluidServer(cluster, 1, 0.01, 0).receive(one[0]);
  CHECK(fluid == Approx(11.02).epsilon(1e-3));
  const auto flow = received_by_flow(cluster, {}, 1, one, 1e6);
  REQUIRE(flow.size() == 1);
  CHECK(flow[0] > fluid + 0.1);
  CHECK(flow[0] < fluid + 4);
  // The negative control: what ends before the rest waits for no timeout.
  CHECK(received_by_flow(cluster, {}, 1, {{payload(0.4), 1, 6}}, 1e6)[0] ==
        Approx(6.42).margin(0.15));
}

TEST_CASE("By flow, a server answers once it has every push, and workers go on alone") {
  // As the fluid's first case (6.5 s), with windows that open, and with the timeouts of what worker
  // 1 sends while its link rests: after .2, .6, 1.4, 3 and 6.2 s, which is 1.2 s late; and what was
  // sent twice goes first.
  const sim::Cluster cluster = resting_star(2, resting_from(5), 5, 1);
  const ServedExchange exchange{.push = payload(1), .pull = payload(0.5), .pause = 0};
  const auto flow = received_by_flow(cluster, {}, 2, {exchange, exchange}, 1e6);
  REQUIRE(flow.size() == 2);
  CHECK(flow[0] > 6.5 + 1.2);
  CHECK(flow[0] < 6.5 + 2.5);
  CHECK(flow[1] > 11);
  CHECK(flow[1] < 14);
  // An exchange: 2 workers' 2 messages, of 644 and 322 packets: 4 + 193.
  CHECK(received_by_flow(cluster, {}, 2, {exchange, exchange}, 250).size() == 1);
  CHECK(received_by_flow(cluster, {}, 2, {exchange, exchange}, 90).empty());  // 2.2 times as much
}
