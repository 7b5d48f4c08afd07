#include "engines/work_list.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "engines/settings.h"
#include "tests/engines/sweep_parts.h"

using namespace gradwire;
using Catch::Contains;

TEST_CASE("a run that was written as a line is the same run", "[unit]") {
  const char* source = std::getenv("GRADWIRE_SOURCE_DIR");
  REQUIRE(source);
  int read = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(source) + "/scenarios")) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".json" || entry.path().filename() == "schema.json") continue;
    CAPTURE(path);
    const auto file = scenarios::read_scenario_file(path);
    const std::size_t place = file.runs.size() - 1;  // the furthest from the file's own values
    const scenarios::Scenario& run = file.runs[place];
    const engines::WorkItem item = engines::item_of(
        engines::line_of(place, run, place % 2 == 0, "some uid", sim::Detail::kFluid));
    CHECK(item.place == place);
    CHECK(item.alone == (place % 2 == 0));
    CHECK(item.uid == "some uid");
    CHECK(item.detail == sim::Detail::kFluid);
    CHECK(item.scenario.hash == run.hash);
    CHECK(item.scenario.json.dump() == run.json.dump());
    CHECK(item.scenario.seed == run.seed);
    CHECK(item.scenario.name == run.name);
    CHECK(item.scenario.file == run.file);
    ++read;
  }
  CHECK(read > 10);
}

TEST_CASE("a line that would run otherwise here is refused", "[unit]") {
  const auto file = testing::eight_runs();
  std::string line = engines::line_of(3, file.runs[3], false, "", {});
  const std::string asked = "\"workers\":4";
  REQUIRE(line.find(asked) != std::string::npos);
  line.replace(line.find(asked), asked.size(), "\"workers\":5");
  CHECK_THROWS_WITH(engines::item_of(line), Contains("reads otherwise here"));
  CHECK_THROWS_AS(engines::item_of("3 0 nothing"), Error);
}

TEST_CASE("settings survive being written", "[unit]") {
  runner::SweepOptions options;
  options.threads = 3;
  options.memory = Bytes(1 << 20);
  options.checkpoint_folder = "somewhere";
  options.resume = true;
  engines::Settings settings = engines::settings_of(options);
  settings.runs = 8;
  settings.round = 2;
  const engines::Settings read = engines::settings_from(engines::text_of(settings));
  CHECK(read.runs == 8);
  CHECK(read.round == 2);
  CHECK(read.threads == 3);
  CHECK(read.resume);
  CHECK(read.checkpoint_folder == std::filesystem::absolute("somewhere").string());
  CHECK(read.models_folder.empty());
  // What is for a machine is shared by its processes.
  CHECK(engines::run_options(read, 4).memory->count() == (1 << 18));
  CHECK_THROWS_AS(engines::settings_from("no settings"), Error);
  CHECK_THROWS_WITH(engines::settings_from(R"({"version": "0.0.1", "runs": 8})"),
                    Contains("version 0.0.1") && Contains("build both"));
}
