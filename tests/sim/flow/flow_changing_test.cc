// Links that change under TCP.
#include <catch2/catch.hpp>
#include <vector>

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

namespace {}  // namespace
