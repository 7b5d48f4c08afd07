#include "scenarios/sweep.h"

#include <catch2/catch.hpp>

#include "scenarios/methods.h"
#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

ScenarioFile swept(const std::string& sweep, const std::string& more = "") {
  return read_scenario_text(scenario_with(", \"sweep\": " + sweep + more), "t.json");
}

std::string problems_of_sweep(const std::string& sweep) {
  return problems_of(scenario_with(",\n\"sweep\": " + sweep));
}

std::string rates(const ScenarioFile& file) {
  std::string text;
  for (const Scenario& run : file.runs)
    text += run.json["network"]["link"]["bandwidth"].get<std::string>() + " ";
  return text;
}

}  // namespace

TEST_CASE("axes are crossed: the first slowest, seeds fastest", "[unit]") {
  const ScenarioFile file =
      swept(R"({"/method/name": ["none", "terngrad"], "/network/link/loss": [0, 0.01, 0.02]})",
            R"(, "seeds": [7, 9])");
  REQUIRE(file.runs.size() == 2 * 3 * 2);
  CHECK(file.swept == std::vector<std::string>{"/method/name", "/network/link/loss"});
  CHECK(file.runs[0].method.name == "none");
  CHECK(file.runs[0].seed == 7);
  CHECK(file.runs[1].seed == 9);
  CHECK(file.runs[1].network.link.loss == 0);
  CHECK(file.runs[2].network.link.loss == 0.01);
  CHECK(file.runs[6].method.name == "terngrad");
  CHECK(file.runs[11].network.link.loss == 0.02);
  CHECK(file.runs[0].hash == file.runs[1].hash);  // the seed is not part of the hash
  CHECK(file.runs[0].hash != file.runs[2].hash);
}

TEST_CASE("ranges include both ends; log ranges are even in the logarithm", "[unit]") {
  // 0, 0.1, 0.2, 0.3: three steps of 0.1 end at 0.30000000000000004, which still counts as 0.3.
  const ScenarioFile linear = swept(R"({"/network/link/loss": {"range": [0, 0.3, 0.1]}})");
  REQUIRE(linear.runs.size() == 4);
  CHECK(linear.runs[3].network.link.loss == 0.3);
  CHECK(rates(swept(
            R"({"/network/link/bandwidth": {"range": ["100Mbps", "0.5Gbps", "200Mbps"]}})")) ==
        "100Mbps 300Mbps 500Mbps ");
  CHECK(rates(swept(R"({"/network/link/bandwidth": {"log_range": ["10Mbps", "10Gbps", 4]}})")) ==
        "10Mbps 100Mbps 1Gbps 10Gbps ");
  const ScenarioFile workers = swept(R"({"/cluster/workers": {"log_range": [2, 64, 6]}})");
  REQUIRE(workers.runs.size() == 6);
  CHECK(workers.runs[4].cluster.workers == 32);
}

TEST_CASE("zip steps axes together, all of them or those named", "[unit]") {
  const std::string three = R"("/network/link/bandwidth": ["1Gbps", "20Mbps"],
    "/network/link/delay": ["50us", "30ms"], "/method/name": ["none", "topk"])";
  CHECK(swept("{" + three + "}").runs.size() == 8);
  CHECK(swept("{" + three + R"(, "zip": false})").runs.size() == 8);
  const ScenarioFile all = swept("{" + three + R"(, "zip": true})");
  REQUIRE(all.runs.size() == 2);
  CHECK(all.runs[1].network.link.delay == parse_duration("30ms"));
  CHECK(all.runs[1].method.name == "topk");
  const ScenarioFile some =
      swept("{" + three + R"(, "zip": ["/network/link/bandwidth", "/network/link/delay"]})");
  REQUIRE(some.runs.size() == 4);
  CHECK(rates(some) == "1Gbps 1Gbps 20Mbps 20Mbps ");
  CHECK(some.runs[2].network.link.delay == parse_duration("30ms"));
  CHECK(some.runs[3].method.name == "topk");
}

TEST_CASE("excluded combinations do not run, in whatever words they are written", "[unit]") {
  const std::string axes =
      R"("/method/name": ["none", "fp16", "topk"], "/network/link/bandwidth": ["1Gbps", "10Gbps"])";
  const ScenarioFile file = swept("{" + axes +
                                  R"(, "exclude": [{"/method/name": ["fp16", "topk"],
                                     "/network/link/bandwidth": "10000Mbps"}]})");
  REQUIRE(file.runs.size() == 4);
  CHECK(rates(file) == "1Gbps 10Gbps 1Gbps 1Gbps ");
  // What is excluded need not be possible.
  CHECK(swept(R"({"/method/name": ["none", "topk"], "/method/ratio": [0.1, 0.2],
                  "exclude": [{"/method/name": "none"}]})")
            .runs.size() == 2);
  CHECK(problems_of_sweep("{" + axes + R"(, "exclude": [{"/executor": "flow"}]})") ==
        "t.json:2: /sweep/exclude: every combination is excluded");
}

TEST_CASE("whole objects can be swept", "[unit]") {
  const ScenarioFile file =
      swept(R"({"/method": [{"name": "none"}, {"name": "topk", "ratio": 0.1}]})");
  REQUIRE(file.runs.size() == 2);
  CHECK_FALSE(file.runs[0].method.error_feedback);
  CHECK(file.runs[1].method.error_feedback);
  CHECK(file.runs[1].method.options.at("ratio") == "0.1");
}

TEST_CASE("list items can be swept", "[unit]") {
  const ScenarioFile file = swept(
      R"({"/network/links/0/bandwidth": ["1Gbps", "10Gbps"]})",
      R"(, "network": {"topology": "explicit", "hosts": ["a", "b"], "links": [{"a": "a", "b": "b"}]})");
  REQUIRE(file.runs.size() == 2);
  CHECK(file.runs[1].network.links[0].spec.rate.value() == 1e10);
  CHECK(file.runs[1].cluster.workers == 2);
}

TEST_CASE("seeds: a list or a count", "[unit]") {
  const auto seeds = [](const std::string& text) {
    std::string all;
    for (const Scenario& run : read_scenario_text(scenario_with(text), "t.json").runs)
      all += std::to_string(run.seed) + " ";
    return all;
  };
  CHECK(seeds("") == "1 ");
  CHECK(seeds(R"(, "seeds": {"count": 3})") == "1 2 3 ");
  CHECK(seeds(R"(, "seeds": [5, 0])") == "5 0 ");
}

TEST_CASE("mistakes in a sweep are told where they stand", "[unit]") {
  CHECK(problems_of_sweep(R"({"/network/link/los": [0]})") ==
        "t.json:2: /sweep/~1network~1link~1los: there is no such field to sweep; allowed: JSON "
        "pointers of "
        "fields, zip, exclude; did you mean \"/network/link/loss\"?");
  CHECK(problems_of_sweep(R"({"loss": [0]})").find("there is no such field to sweep") !=
        std::string::npos);
  CHECK(problems_of_sweep(R"({"/name": ["a"]})") ==
        "t.json:2: /sweep/~1name: this field cannot be swept");
  CHECK(problems_of_sweep("{\"/network/link/loss\": [0,\n1.5]}") ==
        "t.json:3: /sweep/~1network~1link~1loss/1: 1.5 is out of range; allowed: number >= 0 and < "
        "1");
  std::string topk_options;
  for (const OptionSpec& option : find_codec("topk")->options) topk_options += ", " + option.name;
  CHECK(problems_of_sweep(
            "{\"/method\": [{\"name\": \"none\"},\n{\"name\": \"topk\", \"rati\": 1}]}") ==
        "t.json:3: /sweep/~1method/1/rati: there is no such key; allowed: name, error_feedback" +
            topk_options + "; did you mean \"ratio\"?");
  CHECK(problems_of_sweep(R"({"/network/link/loss": {"range": [0, 0.1]}})")
            .find("/sweep/~1network~1link~1loss/range: three values are needed") !=
        std::string::npos);
  CHECK(problems_of_sweep(R"({"/network/link/loss": {"range": [0, 0.1, 0]}})")
            .find("empty, endless") != std::string::npos);
  CHECK(problems_of_sweep(R"({"/network/link/bandwidth": {"range": ["1Gbps", 10, "1Gbps"]}})")
            .find("/sweep/~1network~1link~1bandwidth/range/1: a bare number has no unit") !=
        std::string::npos);
  CHECK(
      problems_of_sweep(R"({"/network/link/loss": {"log_range": [0, 0.1, 3]}})").find("above 0") !=
      std::string::npos);
  CHECK(problems_of_sweep(R"({"/cluster/workers": {"log_range": [1, 4, 20]}})")
            .find("round to the same") != std::string::npos);
  CHECK(problems_of_sweep(R"({"/method/name": {"range": [1, 2, 1]}})").find("only numbers") !=
        std::string::npos);
  CHECK(problems_of_sweep(R"({"/cluster/workers": 4})").find("is not a form that a sweep knows") !=
        std::string::npos);
  CHECK(problems_of_sweep(R"({"/cluster/workers": []})").find("the list is empty") !=
        std::string::npos);
  CHECK(problems_of_sweep(R"({"/cluster/workers": [2, 2]})").find("stands twice") !=
        std::string::npos);
  // Of lists that step together, only the pairs must differ.
  CHECK(problems_of_sweep(
            R"({"/cluster/workers": [2, 2], "/network/link/loss": [0, 0.1], "zip": true})")
            .empty());
  CHECK(problems_of_sweep(
            R"({"/cluster/workers": [2, 2], "/network/link/loss": [0, 0], "zip": true})")
            .find("values 0 and 1 are the same in every list") != std::string::npos);
  CHECK(problems_of_sweep(
            R"({"/cluster/workers": [2, 3], "/network/link/loss": [0], "zip": true})") ==
        "t.json:2: /sweep/zip: /network/link/loss has 1 values, /cluster/workers has 2; allowed: "
        "lists of "
        "equal length");
  CHECK(problems_of_sweep(R"({"/cluster/workers": [2], "zip": ["/executor"]})") ==
        "t.json:2: /sweep/zip/0: is not a swept pointer");
  CHECK(problems_of_sweep(R"({"/method": [{"name": "none"}], "/method/name": ["topk"]})")
            .find("overlaps with /method") != std::string::npos);
  CHECK(problems_of_sweep(R"({"/network/links/0/loss": [0]})").find("no such") !=
        std::string::npos);
  CHECK(problems_of_sweep(R"({"/cluster/workers": {"range": [1, 60000, 1]},
                              "/workload/steps": {"range": [1, 10, 1]}})")
            .find("more than 100000") != std::string::npos);
  CHECK(problems_of_sweep("3").find("/sweep: an object") != std::string::npos);
}
