// Generated clusters: sizes by formula, and the route of every pair of hosts.
#include "sim/cluster/topologies/topologies.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <queue>
#include <set>

#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

std::vector<ChannelId> route_of(const Cluster& cluster, int from, int to) {
  std::vector<ChannelId> route;
  cluster.route(from, to, route);
  return route;
}

NodeId start_of(const Cluster& cluster, ChannelId channel) {
  const Link& link = cluster.links()[static_cast<std::size_t>(channel / 2)];
  return channel % 2 == 0 ? link.a : link.b;
}
NodeId end_of(const Cluster& cluster, ChannelId channel) {
  return start_of(cluster, channel ^ 1);
}
const std::string& name_of_node(const Cluster& cluster, NodeId node) {
  return cluster.node_names()[static_cast<std::size_t>(node)];
}

/// Least hops from a host's node to every node.
std::vector<int> hops_from(const Cluster& cluster, int host) {
  std::vector<std::vector<NodeId>> neighbours(cluster.node_names().size());
  for (const Link& link : cluster.links()) {
    neighbours[static_cast<std::size_t>(link.a)].push_back(link.b);
    neighbours[static_cast<std::size_t>(link.b)].push_back(link.a);
  }
  std::vector<int> hops(neighbours.size(), -1);
  std::queue<NodeId> queue({cluster.host_node(host)});
  hops[static_cast<std::size_t>(queue.front())] = 0;
  for (; !queue.empty(); queue.pop()) {
    const auto node = static_cast<std::size_t>(queue.front());
    for (const NodeId next : neighbours[node]) {
      if (hops[static_cast<std::size_t>(next)] >= 0) continue;
      hops[static_cast<std::size_t>(next)] = hops[node] + 1;
      queue.push(next);
    }
  }
  return hops;
}

/// Whether `route` leads from host to host over links that meet, and comes to no node twice.
bool is_sound(const Cluster& cluster, int from, int to, const std::vector<ChannelId>& route) {
  NodeId node = cluster.host_node(from);
  std::set<NodeId> seen = {node};
  for (const ChannelId channel : route) {
    if (start_of(cluster, channel) != node) return false;
    node = end_of(cluster, channel);
    if (!seen.insert(node).second) return false;
  }
  return node == cluster.host_node(to);
}

/// Every pair's route is sound and as short as any.
void check_routes(const Cluster& cluster) {
  int unsound = 0, longer = 0;
  for (int from = 0; from < cluster.host_count(); ++from) {
    const std::vector<int> hops = hops_from(cluster, from);
    for (int to = 0; to < cluster.host_count(); ++to) {
      if (from == to) continue;
      const std::vector<ChannelId> route = route_of(cluster, from, to);
      unsound += !is_sound(cluster, from, to, route);
      longer +=
          static_cast<int>(route.size()) != hops[static_cast<std::size_t>(cluster.host_node(to))];
    }
  }
  CHECK(unsound == 0);
  CHECK(longer == 0);
}

std::size_t switches(const Cluster& cluster) {
  return cluster.node_names().size() - static_cast<std::size_t>(cluster.host_count());
}

/// The node on each route between hosts of different groups whose name starts with `prefix`, and
/// how many of those routes pass it.
std::map<std::string, int> passed(const Cluster& cluster, const std::string& prefix) {
  std::map<std::string, int> count;
  for (int from = 0; from < cluster.host_count(); ++from) {
    for (int to = 0; to < cluster.host_count(); ++to) {
      if (from == to) continue;
      for (const ChannelId channel : route_of(cluster, from, to)) {
        const std::string& name = name_of_node(cluster, end_of(cluster, channel));
        if (name.starts_with(prefix)) ++count[name];
      }
    }
  }
  return count;
}

ServerPlan with_server() {
  ServerPlan server;
  server.present = true;
  server.link = link(1e10, 1e-6);
  return server;
}

}  // namespace

TEST_CASE("fat tree: k^3 / 4 hosts, 5 k^2 / 4 switches, H + k^3 / 2 links, shortest ways") {
  for (const int k : {2, 4, 6, 8}) {
    const auto room = static_cast<int>(fat_tree_room(k));
    REQUIRE(room == k * k * k / 4);
    for (const int workers : {room, room / 2, 1}) {
      const Cluster cluster = fat_tree({workers, k, {}, {}});
      CHECK(cluster.workers() == workers);
      CHECK(switches(cluster) == static_cast<std::size_t>(5 * k * k / 4));
      CHECK(cluster.links().size() == static_cast<std::size_t>(workers + k * k * k / 2));
      check_routes(cluster);
    }
  }
}

TEST_CASE("fat tree: 2 hops under one edge switch, 4 in one pod, 6 between pods") {
  const Cluster cluster = fat_tree({16, 4, {}, {}});
  CHECK(route_of(cluster, 0, 1).size() == 2);
  CHECK(route_of(cluster, 0, 3).size() == 4);
  CHECK(route_of(cluster, 0, 4).size() == 6);
  CHECK(route_of(cluster, 15, 0).size() == 6);
}

TEST_CASE("fat tree: no switch has more than k ports, and half the hosts' links cross the middle") {
  for (const int k : {4, 6, 8}) {
    const int hosts = k * k * k / 4, half = k / 2;
    const Cluster cluster = fat_tree({hosts, k, {}, {}});
    std::map<NodeId, int> ports;
    int crossing = 0;  // from the first half of the pods to the cores: what joins it to the rest
    const NodeId aggregation = hosts + k * half, core = aggregation + k * half;
    for (const Link& link : cluster.links()) {
      ++ports[link.a];
      ++ports[link.b];
      crossing += link.b >= core && (link.a - aggregation) / half < half;
    }
    for (const auto& [node, count] : ports) CHECK(count == (cluster.is_host(node) ? 1 : k));
    CHECK(crossing == hosts / 2);
  }
}

TEST_CASE("fat tree: flow hashes spread pairs over the cores, always the same way") {
  // k = 8: 128 hosts, 128 x 112 = 14,336 pairs in different pods over 16 cores: 896 each. A fair
  // draw's standard error is sqrt(896 x 15 / 16) = 29; five of them are 145.
  const Cluster cluster = fat_tree({128, 8, {}, {}});
  const std::map<std::string, int> cores = passed(cluster, "core");
  REQUIRE(cores.size() == 16);
  for (const auto& [name, count] : cores) CHECK(std::abs(count - 896) < 145);
  const Cluster again = fat_tree({128, 8, {}, {}});
  bool same = true, both_ways = true;
  for (int to = 16; to < 128; ++to) {
    same &= route_of(cluster, 3, to) == route_of(again, 3, to);
    std::vector<ChannelId> back = route_of(cluster, to, 3);
    std::reverse(back.begin(), back.end());
    for (ChannelId& channel : back) channel ^= 1;
    both_ways &= back == route_of(cluster, 3, to);
  }
  CHECK(same);
  CHECK_FALSE(both_ways);  // a flow's way back is another flow
}

TEST_CASE("without hashing, one core carries everything") {
  const Cluster hashed = fat_tree({16, 4, {}, {}});
  Cluster plain;
  for (std::size_t n = 0; n < hashed.node_names().size(); ++n) {
    const bool host = hashed.is_host(static_cast<NodeId>(n));
    host ? plain.add_host(hashed.node_names()[n]) : plain.add_switch(hashed.node_names()[n]);
  }
  for (const Link& link : hashed.links()) plain.add_link(link.a, link.b, link.spec);
  plain.finish();
  check_routes(plain);
  CHECK(passed(hashed, "core").size() == 4);
  CHECK(passed(plain, "core").size() == 1);
}

TEST_CASE("two tiers: R + S switches, H + R S links, spines shared by flow hash") {
  for (const int workers : {4, 7, 16}) {
    for (const int racks : {1, 2, 4}) {
      const Cluster cluster = two_tier({workers, racks, 3, {}, {}});
      CHECK(switches(cluster) == static_cast<std::size_t>(racks + 3));
      CHECK(cluster.links().size() == static_cast<std::size_t>(workers + 3 * racks));
      check_routes(cluster);
    }
  }
  // 64 workers, 4 racks: 64 x 48 = 3,072 pairs over 4 spines, 768 each; sqrt(768 x 3/4) = 24.
  for (const auto& [name, count] : passed(two_tier({64, 4, 4, {}, {}}), "spine")) {
    CHECK(std::abs(count - 768) < 120);
  }
  // 7 workers in 3 racks: floor(3 w / 7) = 0 0 0 1 1 2 2.
  const Cluster uneven = two_tier({7, 3, 1, {}, {}});
  CHECK(route_of(uneven, 0, 2).size() == 2);
  CHECK(route_of(uneven, 2, 3).size() == 4);
  CHECK(route_of(uneven, 3, 4).size() == 2);
  CHECK(route_of(uneven, 5, 6).size() == 2);
}

TEST_CASE("two tiers: a thin uplink is what eight workers share") {
  // 8 workers of rack 0 send 10 MB each to rack 1 over one 1 Gbps uplink: 8 x 10 MB x 8 bit
  // / 1 Gbps = 0.64 s; x 1,538 / 1,448 with headers = 0.680 s.
  const Cluster cluster = two_tier({16, 2, 1, link(1e9, 1e-6), link(1e9, 1e-6)});
  std::vector<Route> routes;
  for (int w = 0; w < 8; ++w) routes.push_back({w, 8 + w, 10'000'000});
  const Timeline thin = run(*make("flow", cluster), transfers(routes));
  CHECK(thin.end.value() == Approx(0.680).epsilon(0.03));
  const Cluster fat = two_tier({16, 2, 1, link(1e9, 1e-6), link(8e9, 1e-6)});
  CHECK(run(*make("flow", fat), transfers(routes)).end.value() == Approx(0.085).epsilon(0.03));
}

TEST_CASE("ring: as many cables as hosts, the shorter way round") {
  for (const int workers : {1, 2, 3, 4, 5, 8, 13}) {
    const Cluster cluster = host_ring(workers, {});
    const int links = workers == 1 ? 0 : workers == 2 ? 1 : workers;
    CHECK(cluster.links().size() == static_cast<std::size_t>(links));
    CHECK(switches(cluster) == 0);
    check_routes(cluster);
  }
  // Opposite hosts: up from even ones, down from odd ones.
  const Cluster six = host_ring(6, {});
  CHECK(route_of(six, 0, 3) == std::vector<ChannelId>{0, 2, 4});
  CHECK(route_of(six, 1, 4) == std::vector<ChannelId>{1, 11, 9});
  CHECK(route_of(six, 5, 0) == std::vector<ChannelId>{10});
  CHECK(route_of(six, 0, 5) == std::vector<ChannelId>{11});
}

TEST_CASE("torus: every pair shortest, along the row first") {
  for (const auto& [columns, rows] :
       {std::pair(1, 1), {1, 4}, {2, 1}, {2, 2}, {2, 5}, {3, 3}, {4, 4}, {5, 3}, {4, 2}, {6, 5}}) {
    const Cluster cluster = torus(columns * rows, columns, rows, {});
    const auto in_line = [](int size) { return size < 3 ? size - 1 : size; };
    CHECK(cluster.links().size() ==
          static_cast<std::size_t>(rows * in_line(columns) + columns * in_line(rows)));
    check_routes(cluster);
    int row_after_column = 0;
    for (int from = 0; from < columns * rows; ++from) {
      for (int to = 0; to < columns * rows; ++to) {
        bool turned = false;
        for (const ChannelId channel : route_of(cluster, from, to)) {
          const bool along_row = channel / 2 < rows * in_line(columns);
          row_after_column += along_row && turned;
          turned |= !along_row;
        }
      }
    }
    CHECK(row_after_column == 0);
  }
}

TEST_CASE("torus: 2 R links cross the middle of an even number of columns") {
  const int columns = 6, rows = 4;
  const Cluster cluster = torus(columns * rows, columns, rows, {});
  int crossing = 0;
  for (const Link& link : cluster.links()) {
    crossing += (link.a % columns < columns / 2) != (link.b % columns < columns / 2);
  }
  CHECK(crossing == 2 * rows);
}

TEST_CASE("dumb-bell: pairs across share the bottleneck, others do not see it") {
  const Cluster cluster = dumb_bell({5, 2, link(1e9, 1e-6), link(1e8, 1e-3)});
  CHECK(cluster.links().size() == 6);
  check_routes(cluster);
  CHECK(route_of(cluster, 0, 1).size() == 2);
  CHECK(route_of(cluster, 1, 2) == std::vector<ChannelId>{2, 10, 5});
  CHECK(route_of(cluster, 4, 0) == std::vector<ChannelId>{8, 11, 1});
  CHECK(route_of(cluster, 2, 4).size() == 2);
}

TEST_CASE("machines with GPUs: inside over the machine's switch, outside over its adapters") {
  for (const int adapters : {1, 2, 4}) {
    const Cluster cluster = gpu_nodes({20, 8, adapters, link(2e12, 1e-6), link(1e11, 2e-6)});
    CHECK(switches(cluster) == 3 + 1);  // 8 + 8 + 4 workers
    CHECK(cluster.links().size() == static_cast<std::size_t>(20 + 3 * adapters));
    check_routes(cluster);
    CHECK(route_of(cluster, 0, 7).size() == 2);
    CHECK(route_of(cluster, 7, 8).size() == 4);
    std::set<ChannelId> ways;
    for (int from = 0; from < 8; ++from) {
      for (int to = 8; to < 20; ++to) ways.insert(route_of(cluster, from, to)[1]);
    }
    CHECK(ways.size() == static_cast<std::size_t>(adapters));
  }
}

TEST_CASE("sites: workers site by site, fewest hops between routers") {
  WanPlan plan;
  plan.sites = {{"zurich", 2}, {"oregon", 3}, {"tokyo", 1}};
  plan.site_links = {{0, 1, link(1e8, 0.04)}, {1, 2, link(2e8, 0.05)}};
  const Cluster cluster = wan(plan);
  CHECK(cluster.workers() == 6);
  CHECK(cluster.links().size() == 8);
  check_routes(cluster);
  CHECK(route_of(cluster, 0, 1).size() == 2);
  CHECK(route_of(cluster, 0, 4).size() == 3);
  CHECK(route_of(cluster, 0, 5).size() == 4);  // through oregon
  plan.site_links.push_back({0, 2, link(1e8, 0.1)});
  CHECK(route_of(wan(plan), 0, 5).size() == 3);
  plan.site_links = {{0, 1, {}}};
  CHECK_THROWS_WITH(wan(plan), Catch::Contains("worker5") && Catch::Contains("no path"));
}

TEST_CASE("every generator takes a server in, as the last host") {
  const ServerPlan server = with_server();
  WanPlan sites;
  sites.sites = {{"a", 2}, {"b", 3}};
  sites.site_links = {{0, 1, {}}};
  const Cluster clusters[] = {two_tier({5, 2, 2, {}, {}}, server),
                              fat_tree({5, 4, {}, {}}, server),
                              host_ring(5, {}, server),
                              torus(5, 3, 2, {}, server),
                              dumb_bell({5, 2, {}, {}}, server),
                              gpu_nodes({5, 2, 1, {}, {}}, server),
                              wan(sites, server)};
  for (const Cluster& cluster : clusters) {
    CHECK(cluster.workers() == 5);
    CHECK(cluster.host_count() == 6);
    CHECK(cluster.has_server());
    CHECK(name_of_node(cluster, cluster.host_node(5)) == "server");
    check_routes(cluster);
    const bool switched = switches(cluster) > 0;
    const ChannelId up = route_of(cluster, 5, 0)[0];
    CHECK((cluster.channel(up).rate.value() == 1e10) == switched);
  }
}

TEST_CASE("every generator takes three servers in, as the last hosts") {
  ServerPlan servers = with_server();
  servers.count = 3;
  WanPlan sites;
  sites.sites = {{"a", 2}, {"b", 3}};
  sites.site_links = {{0, 1, {}}};
  const Cluster clusters[] = {
      Cluster::star(5, {}, 3, servers.link), two_tier({5, 2, 2, {}, {}}, servers),
      fat_tree({5, 4, {}, {}}, servers),     host_ring(5, {}, servers),
      torus(5, 4, 2, {}, servers),           dumb_bell({5, 2, {}, {}}, servers),
      gpu_nodes({5, 2, 1, {}, {}}, servers), wan(sites, servers)};
  for (const Cluster& cluster : clusters) {
    CHECK(cluster.workers() == 5);
    CHECK(cluster.servers() == 3);
    CHECK(cluster.host_count() == 8);
    CHECK(name_of_node(cluster, cluster.host_node(7)) == "server2");
    check_routes(cluster);
    const bool switched = switches(cluster) > 0;
    for (const int server : {5, 6, 7}) {
      const ChannelId up = route_of(cluster, server, 0)[0];
      CHECK((cluster.channel(up).rate.value() == 1e10) == switched);
    }
  }
  // The second server of two tiers hangs on the second spine.
  CHECK(name_of_node(clusters[1], end_of(clusters[1], route_of(clusters[1], 6, 0)[0])) == "spine1");
}

TEST_CASE("sizes that a network cannot have are refused by name") {
  CHECK_THROWS_WITH(fat_tree({4, 3, {}, {}}), Catch::Contains("even"));
  CHECK_THROWS_WITH(fat_tree({17, 4, {}, {}}), Catch::Contains("16 hosts, not for 17"));
  CHECK_THROWS_WITH(fat_tree({16, 4, {}, {}}, with_server()), Catch::Contains("not for 17"));
  CHECK_THROWS_WITH(two_tier({2, 3, 1, {}, {}}), Catch::Contains("racks"));
  CHECK_THROWS_WITH(two_tier({4, 2, 0, {}, {}}), Catch::Contains("spine"));
  CHECK_THROWS_WITH(torus(10, 3, 4, {}), Catch::Contains("3 columns and 4 rows for 10"));
  CHECK_THROWS_WITH(dumb_bell({4, 4, {}, {}}), Catch::Contains("one side is empty"));
  CHECK_THROWS_AS(gpu_nodes({4, 0, 1, {}, {}}), SimError);
  CHECK_THROWS_AS(host_ring(0, {}), SimError);
  CHECK_THROWS_AS(wan({}), SimError);
}

TEST_CASE("written routes are taken as they stand, one direction each") {
  // a - s - b and a - t - b.
  Cluster cluster;
  const NodeId a = cluster.add_host("a"), b = cluster.add_host("b");
  const NodeId s = cluster.add_switch("s"), t = cluster.add_switch("t");
  for (const auto& [x, y] : {std::pair(a, s), {s, b}, {a, t}, {t, b}}) cluster.add_link(x, y, {});
  const auto finished = [&](const std::vector<FixedRoute>& routes) {
    Cluster copy = cluster;
    for (const FixedRoute& route : routes) copy.add_route(route);
    copy.finish();
    return copy;
  };
  CHECK(route_of(finished({}), 0, 1) == std::vector<ChannelId>{0, 2});
  const Cluster written = finished({{0, 1, {t}}});
  CHECK(route_of(written, 0, 1) == std::vector<ChannelId>{4, 6});
  CHECK(route_of(written, 1, 0) == std::vector<ChannelId>{3, 1});
  CHECK_THROWS_WITH(finished({{0, 1, {s, a, t}}}),
                    Catch::Contains("from a to b") && Catch::Contains("comes to a twice"));
  CHECK_THROWS_WITH(finished({{0, 1, {s, t}}}), Catch::Contains("no link joins s and t"));
  CHECK_THROWS_WITH(finished({{0, 1, {s}}, {0, 1, {t}}}), Catch::Contains("twice"));
  CHECK_THROWS_WITH(finished({{0, 0, {s}}}), Catch::Contains("own start"));
  CHECK_THROWS_AS(finished({{0, 2, {}}}), SimError);
  CHECK_THROWS_AS(finished({{0, 1, {9}}}), SimError);
}

TEST_CASE("4,096 hosts on a fat tree or a torus take little room and time") {
  const Cluster tree = fat_tree({4096, 26, {}, {}});
  CHECK(route_of(tree, 0, 4095).size() == 6);
  const Cluster grid = torus(4096, 64, 64, {});
  CHECK(route_of(grid, 0, 32 * 64 + 32).size() == 64);
}
