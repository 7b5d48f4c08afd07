#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using nlohmann::json;
using Arguments = std::vector<std::string>;

namespace {

/// Two stored runs of one scenario without training, which have steps, figures, a timeline and
/// links.
struct TwoRuns {
  TwoRuns() {
    write_file(folder.file("s.json"), R"({"schema_version": 1, "name": "two",
      "workload": {"profile": "alexnet", "steps": 2}, "cluster": {"workers": 2, "device": "v100"},
      "network": {"link": {"bandwidth": "1Gbps"}}, "executor": "flow", "seeds": [1, 2]})");
    REQUIRE(run({"run", folder.file("s.json"), "--no-report", "-q"}).exit_code == 0);
  }
  Result run(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--db", folder.file("runs.db")});
    return run_program(arguments);
  }
  std::size_t stored() const {
    return json::parse(run({"list", "--format", "json"}).out).at("rows").size();
  }

  TemporaryFolder folder;
};

/// What a kind of row is known by.
const std::map<std::string, std::string> kOwnColumn = {{"steps", "loss"},
                                                       {"metrics", "unit"},
                                                       {"timeline", "lane"},
                                                       {"links", "utilisation"},
                                                       {"runs", "scenario_hash"}};

}  // namespace

TEST_CASE("each --what in each form is what was asked for, or is refused by name", "[unit]") {
  const TwoRuns runs;
  for (const auto& [what, own] : kOwnColumn) {
    for (const std::string form : {"csv", "json", "chrome-trace", "markdown", "jsonl"}) {
      CAPTURE(what, form);
      // The last two are forms of tables, which the global option may ask for.
      const bool global = form == "markdown" || form == "jsonl";
      const Result made = global ? runs.run({"--format", form, "export", "1", "--what", what})
                                 : runs.run({"export", "1", "--what", what, "--format", form});
      if (global || (form == "chrome-trace" && what != "timeline")) {
        CHECK(made.exit_code == 2);
        CHECK_THAT(made.err, Contains("export " + what) && Contains("as " + form));
        continue;
      }
      REQUIRE(made.exit_code == 0);
      if (form == "csv")
        CHECK_THAT(made.out.substr(0, made.out.find('\n')), Contains(own));
      else if (form == "json")
        CHECK(json::parse(made.out).at("rows").at(0).contains(own));
      else
        CHECK(json::parse(made.out).contains("traceEvents"));
    }
  }
}

TEST_CASE("what export is not told it takes from the form, and of runs the one that is named",
          "[unit]") {
  const TwoRuns runs;
  CHECK(json::parse(runs.run({"export", "1", "--format", "chrome-trace"}).out)
            .contains("traceEvents"));
  CHECK(runs.run({"export", "1"}).out == runs.run({"export", "1", "--what", "steps"}).out);
  CHECK(runs.run({"--format", "json", "export", "1"}).out ==
        runs.run({"export", "1", "--format", "json"}).out);
  const auto ids = [&](const Arguments& arguments) {
    std::set<int> all;
    const json document = json::parse(runs.run(arguments).out);
    for (const json& row : document.at("rows")) all.insert(row.at("id").get<int>());
    return all;
  };
  CHECK(ids({"export", "--what", "runs", "--format", "json"}) == std::set<int>{1, 2});
  CHECK(ids({"export", "2", "--what", "runs", "--format", "json"}) == std::set<int>{2});
}

TEST_CASE("an unset shell variable removes, renames and writes nothing", "[unit]") {
  const TwoRuns runs;
  for (const Arguments& command :
       std::vector<Arguments>{{"prune", "--filter", "", "--yes"},
                              {"prune", "--filter", " ", "--yes"},
                              {"prune", "--filter=", "--yes"},
                              {"tag", "", "1"},
                              {"tag", "", "1", "--remove"},
                              {"tag", "name", ""},
                              {"merge", ""},
                              {"export", "1", "--out", ""},
                              {"report", "--out", ""},
                              {"reproduce", "terngrad-chart", "--out", ""},
                              {"run", runs.folder.file("s.json"), "--models", ""},
                              {"run", runs.folder.file("s.json"), "--report=", "--no-report"},
                              {"run", runs.folder.file("s.json"), "--report", ""}}) {
    CAPTURE(command);
    const Result refused = runs.run(command);
    CHECK(refused.exit_code != 0);
    CHECK_THAT(refused.err, Contains("empty") || Contains("\"\"") || Contains("no such file"));
    CHECK(runs.stored() == 2);
  }
  // SQLite takes an empty name for a database that is gone when the program ends.
  const Result nowhere = run_program({"run", runs.folder.file("s.json"), "--db", ""});
  CHECK(nowhere.exit_code == 2);
  CHECK_THAT(nowhere.err, Contains("--db") && Contains("empty"));
  // All of them are removed by saying so.
  CHECK(runs.run({"prune", "--filter", "id>0", "--yes"}).exit_code == 0);
  CHECK(runs.stored() == 0);
}
