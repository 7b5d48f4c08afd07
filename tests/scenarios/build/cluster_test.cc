#include <catch2/catch.hpp>

#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

Scenario read(const std::string& parts, const std::string& workload = R"("workload": {})") {
  return read_scenario_text(scenario_with(parts, workload), "t.json").runs.at(0);
}

}  // namespace

TEST_CASE("a star has one link a worker, and the server's own", "[unit]") {
  const sim::Cluster ring = build_cluster(read(R"(, "cluster": {"workers": 5})"));
  CHECK(ring.workers() == 5);
  CHECK_FALSE(ring.has_server());
  CHECK(ring.links().size() == 5);
  const Scenario scenario =
      read(R"(, "cluster": {"workers": 5}, "exchange": {"collective": "parameter-server"},
    "network": {"link": {"bandwidth": "1Gbps"}, "server_link": {"bandwidth": "10Gbps"}})");
  const sim::Cluster with_server = build_cluster(scenario);
  CHECK(with_server.workers() == 5);
  CHECK(with_server.has_server());
  REQUIRE(with_server.links().size() == 6);
  CHECK(with_server.links()[5].spec.rate.value() == 1e10);
  CHECK(host_index(scenario, "worker4") == 4);
  CHECK(host_index(scenario, "server") == 5);
  CHECK(host_index(scenario, "worker5") == -1);
  for (int host = 0; host < with_server.host_count(); ++host) {
    const std::string& name =
        with_server.node_names()[static_cast<std::size_t>(with_server.host_node(host))];
    CHECK(host_index(scenario, name) == host);
  }
}

TEST_CASE("shards of a server are hosts beyond the workers", "[unit]") {
  const std::string shards = R"(, "exchange": {"collective": "parameter-server", "shards": 3})";
  const Scenario star = read(shards + R"(, "cluster": {"workers": 5})");
  const sim::Cluster cluster = build_cluster(star);
  CHECK(cluster.workers() == 5);
  CHECK(cluster.servers() == 3);
  CHECK(cluster.links().size() == 8);
  CHECK(host_index(star, "server2") == 7);
  CHECK(host_index(star, "server3") == -1);
  CHECK(host_index(star, "server") == -1);
  CHECK(read(shards + R"(, "network": {"topology": "torus", "columns": 3, "rows": 4})")
            .cluster.workers == 9);
  CHECK(build_cluster(read("", R"("workload": {"collective": "parameter-server", "shards": 2})"))
            .servers() == 2);
  CHECK(problems_of(scenario_with(R"(, "exchange": {"shards": 2})")) != "");
}

TEST_CASE("switches that add have a place each", "[unit]") {
  const std::string in_network =
      R"(, "exchange": {"collective": "in-network"}, "cluster": {"workers": 6})";
  CHECK(build_cluster(read(in_network)).servers() == 1);
  const Scenario tiers = read(in_network + R"(, "network": {"topology": "two-tier", "racks": 3})");
  CHECK(build_cluster(tiers).servers() == 4);
  CHECK(build_cluster(tiers).workers() == 6);
  CHECK_THAT(problems_of(scenario_with(in_network + R"(, "network": {"topology": "ring"})")),
             Catch::Contains("form a tree"));
  CHECK_THAT(problems_of(scenario_with(in_network + R"(, "executor": "emulator")")),
             Catch::Contains("no switches that add"));
  CHECK_THAT(problems_of(scenario_with(in_network + R"(, "network": {"server_link": {}})")),
             Catch::Contains("no parameter server"));
  CHECK(
      build_cluster(read("", R"("workload": {"collective": "in-network-all-reduce"})")).servers() ==
      1);
}

TEST_CASE("a collective with a server has one too", "[unit]") {
  CHECK(build_cluster(read("", R"("workload": {"collective": "parameter-server"})")).has_server());
  CHECK_FALSE(
      build_cluster(read("", R"("workload": {"collective": "ring-all-reduce"})")).has_server());
}

TEST_CASE("an explicit topology is built as written; workers default to its hosts", "[unit]") {
  const std::string network =
      R"(, "network": {"topology": "explicit", "hosts": ["a", "b", "ps"], "switches": ["s"],
    "links": [{"a": "a", "b": "s", "bandwidth": "1Gbps"}, {"a": "b", "b": "s"}, {"a": "s", "b": "ps", "loss": 0.1}]})";
  const Scenario ring = read(network);
  CHECK(ring.cluster.workers == 3);
  const Scenario scenario = read(network + R"(, "exchange": {"collective": "parameter-server"})");
  CHECK(scenario.cluster.workers == 2);
  const sim::Cluster cluster = build_cluster(scenario);
  CHECK(cluster.workers() == 2);
  CHECK(cluster.has_server());
  CHECK(cluster.links()[2].spec.loss == 0.1);
  std::vector<sim::ChannelId> route;
  cluster.route(0, 2, route);
  CHECK(route.size() == 2);
  CHECK(host_index(scenario, "ps") == 2);
}

TEST_CASE("each topology builds the cluster that it says", "[unit]") {
  const auto built = [](const std::string& network, const std::string& rest = "") {
    return build_cluster(read(R"(, "network": )" + network + rest));
  };
  const std::string eight = R"(, "cluster": {"workers": 8})";
  // Links: two-tier 8 + 2 x 4; fat tree 8 + k^3 / 2 with k = 4 (16 places; 2 has only 2); ring 8;
  // torus 2 x 4 x 2 less the second cable of each pair of rows; dumb-bell 8 + 1; 3 machines of
  // 3 + 3 + 2 workers with 2 adapters each.
  CHECK(built(R"({"topology": "two-tier", "racks": 4, "spines": 2})", eight).links().size() == 16);
  CHECK(built(R"({"topology": "fat-tree"})", eight).links().size() == 8 + 32);
  CHECK(built(R"({"topology": "ring"})", eight).links().size() == 8);
  CHECK(built(R"({"topology": "torus", "columns": 4, "rows": 2})", eight).links().size() == 12);
  CHECK(built(R"({"topology": "dumb-bell"})", eight).links().size() == 9);
  const sim::Cluster nodes = built(
      R"({"topology": "gpu-nodes", "gpus_per_node": 3, "adapters": 2, "link": {"bandwidth": "100Gbps"}})",
      eight);
  CHECK(nodes.links().size() == 8 + 3 * 2);
  CHECK(nodes.links()[0].spec.rate.value() == 600e9);
  CHECK(nodes.links()[8].spec.rate.value() == 100e9);
  const sim::Cluster racks = built(
      R"({"topology": "two-tier", "link": {"bandwidth": "10Gbps"}, "uplink": {"bandwidth": "40Gbps", "loss": 0.01}})",
      eight);
  CHECK(racks.links()[0].spec.rate.value() == 10e9);
  CHECK(racks.links()[8].spec.rate.value() == 40e9);
  CHECK(racks.links()[8].spec.loss == 0.01);
}

TEST_CASE("what a topology has places for is the default number of workers", "[unit]") {
  const auto workers = [](const std::string& network, const std::string& collective = "ring") {
    return read(R"(, "exchange": {"collective": ")" + collective + R"("}, "network": )" + network)
        .cluster.workers;
  };
  CHECK(workers(R"({"topology": "fat-tree", "k": 6})") == 54);
  CHECK(workers(R"({"topology": "fat-tree", "k": 6})", "parameter-server") == 53);
  CHECK(workers(R"({"topology": "fat-tree"})") == 4);
  CHECK(workers(R"({"topology": "torus", "columns": 3, "rows": 5})") == 15);
  CHECK(workers(R"({"topology": "torus", "columns": 3, "rows": 5})", "parameter-server") == 14);
  CHECK(workers(R"({"topology": "ring"})") == 4);
  CHECK(workers(R"({"topology": "dumb-bell"})") == 4);
  const std::string wan =
      R"({"topology": "wan", "sites": [{"name": "a", "workers": 2}, {"name": "b"}],
          "site_links": [{"a": "a", "b": "b", "delay": "40ms"}]})";
  CHECK(workers(wan) == 3);
  const Scenario sites = read(R"(, "network": )" + wan);
  CHECK(host_index(sites, "worker2") == 2);
  CHECK(build_cluster(sites).links()[3].spec.delay.value() == 0.04);
  CHECK(read(R"(, "network": {"topology": "dumb-bell"}, "cluster": {"workers": 7})").network.left ==
        3);
}

TEST_CASE("an explicit topology takes written routes", "[unit]") {
  const sim::Cluster cluster = build_cluster(read(
      R"(, "network": {"topology": "explicit", "hosts": ["a", "b"], "switches": ["s", "t"],
    "links": [{"a": "a", "b": "s"}, {"a": "s", "b": "b"}, {"a": "a", "b": "t"}, {"a": "t", "b": "b"}],
    "routes": [{"from": "a", "to": "b", "via": ["t"]}]})"));
  std::vector<sim::ChannelId> route;
  cluster.route(0, 1, route);
  CHECK(route == std::vector<sim::ChannelId>{4, 6});
}

TEST_CASE("two levels group the workers of a machine", "[unit]") {
  const std::string two = R"("workload": {"collective": "two-level-all-reduce")";
  const std::string nodes = R"(, "network": {"topology": "gpu-nodes", "gpus_per_node": 4})";
  CHECK(read("", two + "}").workload.group == 8);
  CHECK(read(nodes, two + "}").workload.group == 4);
  CHECK(read(R"(, "network": {"topology": "gpu-nodes"})", two + "}").workload.group == 8);
  CHECK(read(nodes, two + R"(, "group": 2})").workload.group == 2);
  CHECK(problems_of(scenario_with("", R"("workload": {"collective": "broadcast", "group": 2})"))
            .find("only with two-level-all-reduce") != std::string::npos);
}
