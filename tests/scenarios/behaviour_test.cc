#include <catch2/catch.hpp>

#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

Scenario read(const std::string& parts) {
  return read_scenario_text(scenario_with(parts), "t.json").runs.at(0);
}

void check_told(const std::string& parts, const std::string& part) {
  const std::string problems = problems_of(scenario_with(parts));
  INFO(problems);
  CHECK(problems.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("BBR by Linux's rules is refused on flow, and only there") {
  const std::string bbr = R"(, "network": {"transport": {"congestion_control": "bbr")";
  const auto flow =
      read_scenario_text(scenario_with(R"(, "executor": "flow")" + bbr + "}}"), "t.json");
  CHECK(flow.runs.at(0).network.transport.congestion_control ==
        sim::TransportSettings::CongestionControl::kBbr);
  const std::string linux = bbr + R"(, "calibration": "linux"}})";
  check_told(R"(, "executor": "flow")" + linux, "/network/transport/congestion_control");
  read_scenario_text(scenario_with(R"(, "executor": "packet")" + linux), "t.json");
}

TEST_CASE("background traffic reaches the cluster", "[unit]") {
  const sim::Cluster cluster = build_cluster(read(R"(, "network": {"background": [
      {"from": "worker0", "to": "worker2", "bandwidth": "10Mbps"},
      {"from": "worker1", "to": "worker0", "pattern": "on-off", "bandwidth": "1Gbps",
       "size": "1MB", "on": "2s", "off": "500ms"}]})"));
  REQUIRE(cluster.background().size() == 2);
  const sim::BackgroundTraffic& first = cluster.background()[0];
  CHECK(first.source == 0);
  CHECK(first.destination == 2);
  CHECK(first.rate.value() == 1e7);
  CHECK(first.size.count() == 100'000);
  CHECK(first.pattern == sim::BackgroundTraffic::Pattern::kPoisson);
  CHECK(cluster.background()[1].pattern == sim::BackgroundTraffic::Pattern::kOnOff);
  CHECK(cluster.background()[1].off == Seconds(0.5));
  check_told(R"(, "network": {"background": [{"from": "worker0", "to": "worker9",
             "bandwidth": "1Mbps"}]})",
             "/network/background/0/to: there is no host");
  check_told(R"(, "network": {"background": [{"from": "worker0", "to": "worker0",
             "bandwidth": "1Mbps"}]})",
             "sends to itself");
  check_told(R"(, "executor": "emulator", "network": {"background": [{"from": "worker0",
             "to": "worker1", "bandwidth": "1Mbps"}]})",
             "no background traffic");
}

TEST_CASE("workers vary, fail and return", "[unit]") {
  const sim::Cluster cluster = build_cluster(read(R"(, "cluster": {"workers": 3, "spread": 0.2,
      "absences": [{"worker": 1, "from": "1s", "to": "2s"}, {"worker": 1, "from": "5s"}]})"));
  REQUIRE(cluster.host_plan(1) != nullptr);
  CHECK(cluster.host_plan(0)->spread == 0.2);
  CHECK(cluster.host_plan(0)->absences.empty());
  REQUIRE(cluster.host_plan(1)->absences.size() == 2);
  CHECK(cluster.host_plan(1)->absences[1].end == sim::kNeverReturns);
  REQUIRE(cluster.links()[1].spec.outages.size() == 2);
  CHECK(cluster.links()[1].spec.outages[0].end == Seconds(2));
  CHECK(cluster.links()[0].spec.outages.empty());
  CHECK(build_cluster(read("")).host_plan(0) == nullptr);
  check_told(R"(, "cluster": {"absences": [{"worker": 4, "from": "1s"}]})", "no worker 4");
  check_told(R"(, "cluster": {"absences": [{"worker": 1, "from": "1s"},
             {"worker": 1, "from": "2s"}]})",
             "/cluster/absences/1: ");
  check_told(R"(, "cluster": {"absences": [{"worker": 1, "from": "2s", "to": "1s"}]})", "last");
}

TEST_CASE("the transport is TCP, ideal, or datagrams", "[unit]") {
  using Protocol = sim::TransportSettings::Protocol;
  const auto protocol = [](const std::string& parts) {
    return read(parts).network.transport.protocol;
  };
  CHECK(protocol("") == Protocol::kTcp);
  CHECK(protocol(R"(, "network": {"transport": {"protocol": "ideal"}})") == Protocol::kIdeal);
  const std::string datagrams = R"(, "network": {"transport": {"protocol": "udp-lossy"}})";
  const std::string collective = R"("workload": {"collective": "all-to-all"})";
  const auto replayed = read_scenario_text(scenario_with(datagrams, collective), "t.json");
  CHECK(replayed.runs.at(0).network.transport.protocol == Protocol::kUdpLossy);
  CHECK(protocol(datagrams) == Protocol::kUdpLossy);  // training too
  CHECK_FALSE(read(datagrams).network.transport.deadline);
  const auto impatient =
      read(R"(, "network": {"transport": {"protocol": "udp-lossy", "deadline": "5ms"}})");
  CHECK(impatient.network.transport.deadline == Seconds(0.005));
  check_told(R"(, "executor": "emulator", "network": {"transport": {"protocol": "ideal"}})",
             "speaks TCP");
  check_told(R"(, "executor": "packet", "network": {"transport": {"protocol": "ideal"}})",
             "packets, and they take time");
  check_told(R"(, "network": {"transport": {"protocol": "sctp"}})", "not a choice");
}

TEST_CASE("a pair of hosts may have several connections, of TCP", "[unit]") {
  const auto several = [](const std::string& more) {
    return R"(, "network": {"transport": {"connections": 4)" + more + "}}";
  };
  CHECK(read("").network.transport.connections == 1);
  CHECK(read(several("")).network.transport.connections == 4);
  check_told(several(R"(, "protocol": "udp-lossy")"), "need no connection");
  check_told(R"(, "executor": "emulator")" + several(""), "one connection");
  check_told(R"(, "network": {"transport": {"connections": 0}})", "is out of range");
  check_told(R"(, "network": {"transport": {"connections": 65}})", "is out of range");
}
