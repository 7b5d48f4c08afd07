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
