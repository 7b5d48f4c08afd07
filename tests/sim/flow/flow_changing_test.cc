// Links that change under TCP, held against ns-3 3.44 (the executor `packet` with the same
// scenario).
#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "sim/flow/tcp_path.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

/// s, until all of `clients` that send as much at once are through.
double makespan(const Cluster& cluster, int clients, std::int64_t bytes) {
  std::vector<Route> routes;
  for (int client = 0; client < clients; ++client) routes.push_back({client, clients, bytes});
  const auto executor = make("flow", cluster);
  double end = 0;
  for (const OpRecord& op : run(*executor, transfers(routes)).ops)
    end = std::max(end, op.end.value());
  return end;
}

/// A server behind a link as fast as each client's, which is out at these times, s.
Cluster with_outages(int clients, double rate, double delay,
                     std::vector<std::pair<double, double>> times) {
  LinkSpec server = link(rate, 1e-3);
  for (const auto& [begin, end] : times) server.outages.push_back({Seconds(begin), Seconds(end)});
  return Cluster::star(clients, link(rate, delay), 1, server);
}

}  // namespace

TEST_CASE("what waits at its sender's link waits at the link that is out, once that is") {
  // Until the outage the queue is at the sender, where both links are as fast; then it is before
  // the one that is out, whose CoDel has seen nothing wait yet. With one queue for both a segment
  // is dropped as soon as the first outage is over: 0.490 and 0.463 s.
  const Cluster first = with_outages(1, 100e6, 12e-3, {{0.1, 0.2}, {0.3, 0.4}});
  CHECK(makespan(first, 1, 2'000'000) == Approx(0.477).epsilon(0.005));
  const Cluster second = with_outages(1, 150e6, 12e-3, {{0.3, 0.4}, {0.6, 0.7}});
  CHECK(makespan(second, 1, 4'000'000) == Approx(0.450).epsilon(0.005));
}

TEST_CASE("streams keep their places in the round of a link that is out now and then") {
  // Who is served first, and whose next segment is only on its way, decides what CoDel drops
  // after the outages. Once 1.52 s.
  const Cluster cluster = with_outages(4, 20e6, 7e-3, {{0.3, 0.325}, {0.62, 0.65}});
  CHECK(makespan(cluster, 4, 800'000) == Approx(1.43).epsilon(0.01));
}

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
