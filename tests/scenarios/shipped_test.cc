#include <catch2/catch.hpp>
#include <set>

#include "base/file_descriptor.h"
#include "scenarios/share.h"
#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;

TEST_CASE("every shipped scenario is valid, described, and has as many runs as it says", "[unit]") {
  std::vector<std::string> names = json_names(share_folder());
  CHECK(names.size() >= 7);
  for (const std::string folder : {"methods", "studies"})
    for (const std::string& name : json_names(share_folder() + "/" + folder))
      names.push_back(folder + "/" + name);
  for (const std::string& name : names) {
    INFO(name);
    const std::size_t folder_ends = name.find('/') + 1;  // 0: in none
    const ScenarioFile file = read_scenario_file(share_folder() + "/" + name + ".json");
    CHECK(file.name == name.substr(folder_ends));
    CHECK(file.description.size() > 40);
    REQUIRE(file.expected.is_object());
    CHECK(file.expected["runs"] == file.runs.size());
    CHECK(file.warnings.empty());
    CHECK(nlohmann::ordered_json::parse(read_file(file.path))["$schema"] ==
          (folder_ends > 0 ? "../schema.json" : "./schema.json"));
    std::set<std::string> hashes;
    for (const Scenario& run : file.runs) hashes.insert(run.hash + " " + std::to_string(run.seed));
    CHECK(hashes.size() == file.runs.size());
    CHECK(build_cluster(file.runs.front()).workers() == file.runs.front().cluster.workers);
  }
}

TEST_CASE("shipped scenarios are found by name", "[unit]") {
  CHECK(find_scenario_file("quickstart") == share_folder() + "/quickstart.json");
  CHECK(find_scenario_file(share_folder() + "/lan.json") == share_folder() + "/lan.json");
  CHECK(find_scenario_file("methods/mixed-precision") ==
        share_folder() + "/methods/mixed-precision.json");
  CHECK(find_scenario_file("methods/cgx") == share_folder() + "/methods/cgx.json");
  CHECK_THROWS_WITH(find_scenario_file("quikstart"),
                    Catch::Contains("did you mean \"quickstart\""));
  CHECK_THROWS_AS(find_scenario_file("no/such.json"), Error);
}

TEST_CASE("the sweep example has the runs that its axes say", "[unit]") {
  CHECK(read_scenario_file(share_folder() + "/sweep.json").runs.size() == 4 * 4 * 3);
}
