#include <catch2/catch.hpp>

#include <filesystem>

#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

/// A folder with trace files.
class TraceFolder {
 public:
  TraceFolder() {
    write("up.trace", "10\n20\n");
    write("down.trace", "1\n2\n3\n4\n");
    write("steps.csv", "seconds,bits_per_second\n0,1e6\n5,2e6\n");
  }
  void write(const std::string& name, const std::string& text) const {
    write_file(folder_.file(name), text);
  }
  std::string scenario() const { return folder_.file("t.json"); }
  Scenario read(const std::string& network) const {
    return read_scenario_text(scenario_with(R"(, "network": )" + network), scenario()).runs.at(0);
  }
  std::string problems(const std::string& network) const {
    return problems_of(scenario_with(R"(, "network": )" + network), scenario());
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("links take jitter, bursts, half duplex and outages", "[unit]") {
  const TraceFolder folder;
  const sim::LinkSpec link = folder
                                 .read(R"({"link": {"jitter": "2ms", "half_duplex": true,
      "burst": {"enter": 0.001, "leave": 0.1}, "outages": [{"begin": "1s", "end": "2s"}]}})")
                                 .network.link;
  CHECK(link.jitter == parse_duration("2ms"));
  CHECK(link.half_duplex);
  CHECK(link.burst.enter == 0.001);
  CHECK(link.burst.leave == 0.1);
  CHECK(link.burst.loss == 1);
  REQUIRE(link.outages.size() == 1);
  CHECK(link.outages[0].end == Seconds(2));
  CHECK(folder.problems(R"({"link": {"burst": {"enter": 0.1}}})").find("/leave: is missing") !=
        std::string::npos);
  CHECK(folder
            .problems(R"({"link": {"outages": [{"begin": "2s", "end": "3s"},
                                               {"begin": "1s", "end": "2s"}]}})")
            .find("overlap") != std::string::npos);
}

TEST_CASE("a schedule is a file, read beside the scenario, or written down", "[unit]") {
  const TraceFolder folder;
  const Scenario read =
      folder.read(R"({"link": {"schedule": "up.trace", "schedule_back": "steps.csv"}})");
  REQUIRE(read.network.link.schedule);
  CHECK(read.network.link.schedule->opportunities().size() == 2);
  CHECK(read.network.link.schedule_back->pieces().size() == 2);
  const sim::LinkSpec written =
      folder
          .read(R"({"link": {"changes": [{"at": "0s", "bandwidth": "1Mbps"},
                                         {"at": "3s", "bandwidth": "0bps"}],
                             "changes_repeat": "4s"}})")
          .network.link;
  REQUIRE(written.schedule);
  CHECK_FALSE(written.schedule_back);
  CHECK(written.schedule->mean_rate().value() == Approx(750e3));  // 3 s of 4 s
}

TEST_CASE("the resolved scenario holds the file's hash, and another file is refused", "[unit]") {
  const TraceFolder folder;
  const Scenario first = folder.read(R"({"link": {"schedule": "up.trace"}})");
  const auto& link = first.json["network"]["link"];
  REQUIRE(link.contains("schedule_hash"));
  const Scenario again = read_scenario_text(first.json.dump(), folder.scenario()).runs.at(0);
  CHECK(again.hash == first.hash);
  folder.write("up.trace", "10\n21\n");
  CHECK(problems_of(first.json.dump(), folder.scenario()).find("hash") != std::string::npos);
  CHECK(folder.read(R"({"link": {"schedule": "up.trace"}})").hash != first.hash);
  CHECK_FALSE(folder.read("{}").json["network"]["link"].contains("schedule_hash"));
}

TEST_CASE("workers' traces go round, each so much further on", "[unit]") {
  const TraceFolder folder;
  const Scenario scenario =
      read_scenario_text(scenario_with(R"(, "cluster": {"workers": 5}, "network": {
        "traces": {"up": ["up.trace", "down.trace"], "down": ["steps.csv"], "offset": "1.5s"}},
        "exchange": {"collective": "parameter-server"})"),
                         folder.scenario())
          .runs.at(0);
  const sim::Cluster cluster = build_cluster(scenario);
  for (int w = 0; w < 5; ++w) {
    const sim::LinkSpec& link = cluster.links()[static_cast<std::size_t>(w)].spec;
    CHECK(link.schedule->opportunities().size() == (w % 2 == 0 ? 2u : 4u));
    CHECK(link.schedule_back->pieces().size() == 2);
    CHECK(link.schedule_offset.value() == 1.5 * w);
  }
  CHECK_FALSE(cluster.links()[5].spec.schedule);  // the server's
  CHECK(scenario.json["network"]["traces"]["up_hashes"].size() == 2);
  CHECK(read_scenario_text(scenario.json.dump(), folder.scenario()).runs.at(0).hash ==
        scenario.hash);
}

TEST_CASE("bad schedules are told with their place", "[unit]") {
  const TraceFolder folder;
  folder.write("empty.trace", "");
  folder.write("back.trace", "5\n3\n");
  const auto told = [&](const std::string& network, const std::string& part) {
    const std::string problems = folder.problems(network);
    INFO(problems);
    CHECK(problems.find(part) != std::string::npos);
  };
  told(R"({"link": {"schedule": "none.trace"}})", "/network/link/schedule: ");
  told(R"({"link": {"schedule": "empty.trace"}})", "empty");
  told(R"({"link": {"schedule_back": "back.trace"}})", "line 2: the time goes back");
  told(R"({"link": {"changes": [{"at": "1s", "bandwidth": "1Mbps"}]}})", "begin at 0 s");
  told(R"({"link": {"changes": [{"at": "0s", "bandwidth": "0bps"}]}})", "nothing ever passes");
  told(R"({"link": {"changes": [], "schedule": "up.trace"}})", "there is a file");
  told(R"({"link": {"half_duplex": true, "schedule": "up.trace"}})", "half duplex");
  told(R"({"traces": {"up": []}})", "/network/traces/up: the list is empty");
  told(R"({"traces": {"up": ["none.trace"]}})", "/network/traces/up/0: ");
  told(R"({"topology": "ring", "traces": {"up": ["up.trace"]}})", "does not go with");
  told(R"({"topology": "explicit", "hosts": ["a", "b"],
           "links": [{"a": "a", "b": "b", "schedule": "none.trace"}]})",
       "/network/links/0/schedule: ");
}

TEST_CASE("radio cells: width, places, and the wire to the server", "[unit]") {
  const auto read = [](const std::string& network) {
    return read_scenario_text(scenario_with(R"(, "network": )" + network +
                                            R"(, "exchange": {"collective": "parameter-server"})"),
                              "t.json")
        .runs.at(0);
  };
  const sim::Cluster wifi = build_cluster(read(R"({"topology": "wifi-cell",
      "link": {"bandwidth": "10Gbps"}, "cell": {"stations": [{"distance": 5}, {"distance": 20}]}})"));
  REQUIRE(wifi.cells().size() == 1);
  CHECK(wifi.cells()[0].kind == sim::Cell::Kind::kWifi);
  CHECK(wifi.cells()[0].width == 80e6);
  REQUIRE(wifi.cells()[0].stations.size() == 4);
  CHECK(wifi.cells()[0].stations[3].distance == 20);
  CHECK(wifi.links()[4].spec.rate.value() == 1e10);
  const sim::Cluster lte = build_cluster(read(R"({"topology": "lte-cell"})"));
  CHECK(lte.cells()[0].width == 10e6);
  CHECK(lte.cells()[0].stations[0].distance == 10);
  const auto told = [](const std::string& cell, const std::string& part) {
    const std::string problems = problems_of(
        scenario_with(R"(, "network": {"topology": "lte-cell", "cell": )" + cell + "}"));
    INFO(problems);
    CHECK(problems.find(part) != std::string::npos);
  };
  told(R"({"width": 80})", "/network/cell: ");
  told(R"({"stations": [{"distance": 5000}]})", "out of its base's range");
  told(R"({"stations": [{"distance": -1}]})", "out of range");
  told(R"({"stations": [{"place": 3}]})", "no such key");
}

TEST_CASE("executors say which dynamics they do not know", "[unit]") {
  const auto problems = [](const std::string& network) {
    return problems_of(scenario_with(R"(, "executor": "emulator", "network": )" + network));
  };
  CHECK(problems(R"({"link": {"half_duplex": true}})").find("full duplex") != std::string::npos);
  CHECK(problems(R"({"link": {"jitter": "1ms", "burst": {"enter": 0.001, "leave": 0.1},
      "outages": [{"begin": "1s", "end": "2s"}]}})")
            .empty());
  CHECK(problems(R"({"topology": "wifi-cell"})").find("no radio cells") != std::string::npos);
  CHECK(problems("{}").empty());
  const ScenarioFile model = read_scenario_text(
      scenario_with(R"(, "executor": "model", "network": {"topology": "lte-cell"})"), "t.json");
  REQUIRE(model.warnings.size() == 1);
  CHECK(model.warnings[0].find("mean rate") != std::string::npos);
}

TEST_CASE("the way back may have a rate of its own", "[unit]") {
  const TraceFolder folder;
  const sim::LinkSpec link =
      folder.read(R"({"link": {"bandwidth": "10Mbps", "bandwidth_back": "50Mbps"}})").network.link;
  const sim::Link duplex{0, 1, link};
  CHECK(duplex.nominal_rate(0).value() == 10e6);
  CHECK(duplex.nominal_rate(1).value() == 50e6);
  CHECK(folder
            .problems(R"({"link": {"bandwidth_back": "1Mbps",
                                   "changes_back": [{"at": "0s", "bandwidth": "1Mbps"}]}})")
            .find("the way back has a schedule too") != std::string::npos);
  CHECK(folder.problems(R"({"link": {"bandwidth_back": "1Mbps", "half_duplex": true}})")
            .find("share one bandwidth") != std::string::npos);
}

TEST_CASE("an access network stands in for what a link leaves open", "[unit]") {
  const TraceFolder folder;
  const Scenario read = folder.read(R"({"link": {"access": "4g"}})");
  const sim::Link phone{0, 1, read.network.link};
  const sim::Link home{
      0, 1, folder.read(R"({"link": {"access": "fibre", "delay": "9ms"}})").network.link};
  CHECK(phone.nominal_rate(0).value() == Approx(6.3e6));
  CHECK(phone.nominal_rate(1).value() == Approx(21.3e6));
  CHECK(phone.spec.delay.value() == Approx(27.5e-3));
  CHECK(home.nominal_rate(1).value() == Approx(20e6));
  CHECK(home.spec.delay.value() == Approx(9e-3));  // what is given stays
  // The resolved scenario shows what it came to.
  CHECK(read.json["network"]["link"]["bandwidth_back"] == "21.3Mbps");
  // Another schedule back wins over the network's.
  const sim::LinkSpec back =
      folder.read(R"({"link": {"access": "adsl", "schedule_back": "steps.csv"}})").network.link;
  CHECK(back.schedule_back->pieces().size() == 2);
  CHECK(folder.problems(R"({"link": {"access": "6g"}})").find("/access") != std::string::npos);
}
