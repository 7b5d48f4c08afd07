#include "sim/cluster/cluster.h"
#include "tests/quantities.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace gradwire;
using namespace gradwire::sim;

namespace {

std::vector<ChannelId> route_of(const Cluster& cluster, int from, int to) {
  std::vector<ChannelId> route;
  cluster.route(from, to, route);
  return route;
}

}  // namespace

TEST_CASE("a star's routes cross the sender's and the receiver's link") {
  const Cluster cluster = Cluster::star(3, {}, true);
  REQUIRE(cluster.workers() == 3);
  REQUIRE(cluster.host_count() == 4);
  // Link w joins worker w (a) and the switch (b): up is channel 2w, down 2w + 1.
  CHECK(route_of(cluster, 0, 2) == std::vector<ChannelId>{0, 5});
  CHECK(route_of(cluster, 1, 3) == std::vector<ChannelId>{2, 7});
  CHECK(route_of(cluster, 3, 1) == std::vector<ChannelId>{6, 3});
}

TEST_CASE("routes take the fewest hops, ties to the smaller node") {
  // a - s - b with s - {t, u} - v: from a to c (on v) there are two ways of four hops; t < u wins.
  Cluster cluster;
  const NodeId a = cluster.add_host("a"), b = cluster.add_host("b"), c = cluster.add_host("c");
  const NodeId s = cluster.add_switch("s"), t = cluster.add_switch("t"),
               u = cluster.add_switch("u"), v = cluster.add_switch("v");
  cluster.add_link(a, s, {});  // link 0
  cluster.add_link(b, s, {});  // 1
  cluster.add_link(s, u, {});  // 2
  cluster.add_link(s, t, {});  // 3
  cluster.add_link(u, v, {});  // 4
  cluster.add_link(t, v, {});  // 5
  cluster.add_link(v, c, {});  // 6
  cluster.finish();
  CHECK(route_of(cluster, 0, 2) == std::vector<ChannelId>{0, 6, 10, 12});
  CHECK(route_of(cluster, 2, 0) == std::vector<ChannelId>{13, 11, 7, 1});
  CHECK(route_of(cluster, 0, 1) == std::vector<ChannelId>{0, 3});
}

TEST_CASE("two hosts joined by one cable, and hosts in a row, are clusters too") {
  Cluster pair;
  pair.add_host("a");
  pair.add_host("b");
  pair.add_link(0, 1, {});
  pair.finish();
  CHECK(route_of(pair, 1, 0) == std::vector<ChannelId>{1});

  Cluster row;  // a - b - c: b forwards
  for (const char* name : {"a", "b", "c"}) row.add_host(name);
  row.add_link(0, 1, {});
  row.add_link(1, 2, {});
  row.finish(true);
  CHECK(row.workers() == 2);
  CHECK(route_of(row, 0, 2) == std::vector<ChannelId>{0, 2});
  CHECK(route_of(row, 2, 0) == std::vector<ChannelId>{3, 1});
}

TEST_CASE("unreachable hosts and impossible links are refused by name") {
  Cluster apart;
  apart.add_host("left");
  apart.add_host("right");
  apart.add_host("lost");
  apart.add_link(0, 1, {});
  CHECK_THROWS_WITH(apart.finish(), Catch::Contains("left") && Catch::Contains("lost") &&
                                        Catch::Contains("no path"));

  Cluster cluster;
  cluster.add_host("a");
  cluster.add_host("b");
  const double inf = std::numeric_limits<double>::infinity();
  const auto add = [&](double rate, double delay, double loss) {
    cluster.add_link(0, 1, {BitsPerSecond(rate), Seconds(delay), loss, Bytes(0)});
  };
  CHECK_THROWS_WITH(add(0, 0, 0), Catch::Contains("a - b") && Catch::Contains("rate"));
  CHECK_THROWS_AS(add(inf, 0, 0), SimError);
  CHECK_THROWS_WITH(add(1e9, -1, 0), Catch::Contains("delay"));
  CHECK_THROWS_WITH(add(1e9, 0, 1), Catch::Contains("loss"));
  CHECK_THROWS_AS(add(1e9, 0, -0.1), SimError);
  CHECK_THROWS_AS(cluster.add_link(0, 0, {}), SimError);
  CHECK_THROWS_AS(cluster.add_link(0, 7, {}), SimError);
  CHECK_NOTHROW(add(1e9, 0, 0.999));
  CHECK_THROWS_AS(Cluster::star(0, {}), SimError);
}

TEST_CASE("wire bytes are whole segments and a last short one, each with its headers") {
  const TransportSettings tcp;
  // 90 = 1,538 - 1,448 of headers a segment.
  CHECK(wire_bytes(Bytes(0), tcp) == Bytes(0));
  CHECK(wire_bytes(Bytes(1), tcp) == Bytes(91));
  CHECK(wire_bytes(Bytes(1448), tcp) == Bytes(1538));
  CHECK(wire_bytes(Bytes(1449), tcp) == Bytes(1538 + 91));
  CHECK(wire_bytes(Bytes(10 * 1448), tcp) == Bytes(15380));
}
