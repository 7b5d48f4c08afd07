#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file_descriptor.h"
#include "compressors/codec.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;

TEST_CASE("help shows commands and examples; wrong usage exits with 2", "[unit]") {
  const Result help = run_program({"--help"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.out, Contains("Examples:") && Contains("validate") && Contains("report"));
  CHECK(run_program({"no-such-command"}).exit_code == 2);
  CHECK(run_program({"run"}).exit_code == 2);
  CHECK(run_program({"list", "--format", "xml"}).exit_code == 2);
}

TEST_CASE("a scenario's errors come all at once with file, pointer and suggestion; exit code 3",
          "[unit]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("bad.json");
  write_file(path, R"({"schema_version": 1, "name": "bad",
    "workload": {"model": "lenet6"},
    "cluster": {"workers": 0},
    "network": {"link": {"bandwith": "1Gbps", "delay": 5}}})");
  const Result result = run_program({"validate", path});
  CHECK(result.exit_code == 3);
  CHECK_THAT(result.err, Contains(path) && Contains("/workload/model") &&
                             Contains("/cluster/workers") && Contains("bandwidth") &&
                             Contains("/network/link/delay"));
  CHECK(run_program({"run", path, "--db", folder.file("x.db")}).exit_code == 3);
  CHECK(run_program({"validate", folder.file("missing.json")}).exit_code != 0);
  CHECK(run_program({"validate", "quickstart"}).exit_code == 0);  // shipped, by its name
}

TEST_CASE("the shipped scenarios are valid, and plan counts their runs", "[unit]") {
  const TemporaryFolder folder;
  const Result result = run_program({"plan", source_path("scenarios/sweep.json"), "--format",
                                     "json", "--db", folder.file("none.db")});
  REQUIRE(result.exit_code == 0);
  CHECK(nlohmann::json::parse(result.out).at("rows").size() >= 40);
}

TEST_CASE("plan says how many events a packet run is, and how long it takes", "[unit]") {
  const TemporaryFolder folder;
  const Result result = run_program({"plan", source_path("scenarios/collective.json"), "--executor",
                                     "packet", "--format", "json", "--db", folder.file("none.db")});
  REQUIRE(result.exit_code == 0);
  // 16 workers send 30 hops of 1,562,500 bytes: 480 * 1,080 segments. Each crosses two links, and
  // half an acknowledgement back, at 3 events a hop, and costs 1.2 more: 10.2. One event for each
  // transfer. Three repetitions: 15.9 million; four rates: 63 million.
  const auto row = nlohmann::json::parse(result.out).at("rows").at(0);
  CHECK(row.at("events").get<double>() == Approx(3 * (480 * 1080 * 10.2 + 480)).epsilon(1e-6));
  CHECK(row.at("forecast_s").get<double>() > 1);
  CHECK_THAT(result.err, Contains("on the packet executor: about 63 million events"));
}

TEST_CASE("an unusable database exits with 6 and says why", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("text.db"), std::string(5000, 'x'));
  for (const std::string& path : {folder.file("text.db"), std::string("/nonexistent-folder/x.db"),
                                  folder.file("missing.db")}) {
    CAPTURE(path);
    const Result result = run_program({"list", "--db", path});
    CHECK(result.exit_code == 6);
    CHECK_THAT(result.err, Contains(path));
  }
}

TEST_CASE("errors are objects under --format json", "[unit]") {
  const Result result =
      run_program({"list", "--db", "/nonexistent-folder/x.db", "--format", "json"});
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json.at("type") == "error");
  CHECK(json.at("exit_code") == 6);
}

TEST_CASE("a method is shown with its options, an unknown one with the nearest name", "[unit]") {
  const auto shown = run_program({"methods", "dgc"});
  CHECK(shown.exit_code == 0);
  CHECK_THAT(shown.out, Contains("1712.01887") && Contains("warmup_epochs"));
  const auto json = nlohmann::json::parse(run_program({"methods", "dgc", "--format", "json"}).out);
  CHECK(json.at("state") == "reproduced");
  CHECK(json.at("option_table").size() >= 10);
  const auto unknown = run_program({"methods", "dcg"});
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err, Contains("did you mean"));
}

TEST_CASE("experiments are listed, and an unknown one is refused before anything runs", "[unit]") {
  const auto listed = run_program({"reproduce", "--format", "json"});
  CHECK_THAT(listed.out, Contains("dgc") && Contains("terngrad-chart"));
  const auto unknown = run_program({"reproduce", "terngrat", "--db", "/nowhere/x.db"});
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err, Contains("did you mean terngrad"));
}

TEST_CASE("codecs and methods are listed with their options", "[unit]") {
  const auto rows =
      nlohmann::json::parse(run_program({"codec", "list", "--format", "json"}).out).at("rows");
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.at("name"));
  std::vector<std::string> expected;
  for (const auto& codec : compressors::codec_catalogue()) expected.push_back(codec.name);
  CHECK(names == expected);
  CHECK(names.size() >= 4);
  const auto table = nlohmann::json::parse(run_program({"methods", "--format", "json"}).out);
  std::vector<std::string> methods;
  for (const auto& row : table.at("rows")) methods.push_back(row.at("name"));
  const auto listed = [&](const char* name) {
    return std::find(methods.begin(), methods.end(), name) != methods.end();
  };
  CHECK((listed("dgc") && listed("compressed")));
  CHECK(std::set(methods.begin(), methods.end()).size() == methods.size());
  // Whatever has an experiment is among them, chosen by /method or by another setting; but for
  // those that hold several against each other, or one of them in another network.
  const std::set<std::string> comparisons = {
      "terngrad-chart", "streaming-diloco", "intellect-1",          "paddle-dgc",
      "byteps",         "mnist-eight",      "mnist-eight-amsgrad",  "cgx-layers",
      "gossip",         "quasi-global",     "low-precision-gossip", "asynchronous-gossip"};
  const auto experiments =
      nlohmann::json::parse(run_program({"reproduce", "--format", "json"}).out).at("rows");
  CHECK(experiments.size() >= 8);
  for (const auto& row : experiments) {
    const std::string name = row.at("name");
    CAPTURE(name);
    CHECK((listed(name.c_str()) || comparisons.contains(name)));
  }
  const auto lars = nlohmann::json::parse(run_program({"methods", "lars", "--format", "json"}).out);
  CHECK_THAT(lars.at("paper").get<std::string>(), Contains("1708.03888"));
  CHECK_FALSE((listed("lowbit") || listed("sz") || listed("masked")));  // not for gradients
}

TEST_CASE("texts that are hostile stay texts: escapes are written out, what is no UTF-8 is refused",
          "[unit]") {
  const TemporaryFolder folder;
  const std::string database = folder.file("runs.db"), file = folder.file("a\xFF\x1B[31m.json");
  write_file(file, R"({"schema_version": 1, "name": "s", "description": "\u001b[2J<script>",
      "workload": {"collective": "broadcast", "bytes": "1MB"}, "executor": "model"})");
  REQUIRE(run_program({"run", file, "--db", database, "--no-report", "-q"}).exit_code == 0);

  const Result tag = run_program({"tag", "t\x1B[31m", "1", "--db", database});
  CHECK(tag.exit_code == 2);
  CHECK_THAT(tag.err, Catch::Contains("without control characters, not t\\x1B[31m"));
  CHECK(run_program({"tag", "a\xFF", "1", "--db", database}).exit_code == 2);
  // It would name the run of that number no more.
  CHECK(run_program({"tag", "7", "1", "--db", database}).exit_code == 2);
  CHECK(run_program({"tag", "caf\xC3\xA9 <b>';--", "1", "--db", database}).exit_code == 0);

  // The file's name is no UTF-8: the answer is, and whole.
  const Result shown = run_program({"show", "1", "--db", database, "--format", "json"});
  CHECK(shown.exit_code == 0);
  CHECK(nlohmann::json::parse(shown.out).at("rows").size() == 1);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"show", "1"}, {"list", "--wide"}, {"show", "\x1B[31m"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {"--db", database});
    const Result result = run_program(words);
    CHECK(result.out.find('\x1B') == std::string::npos);
    CHECK(result.err.find('\x1B') == std::string::npos);
  }

  const Result unknown = run_program({"show", "\xFF", "--db", database, "--format", "json"});
  CHECK(unknown.exit_code == 2);
  CHECK(nlohmann::json::parse(unknown.out).at("exit_code") == 2);
  const Result set = run_program({"run", file, "--set", "/description=\xFF", "--db", database});
  CHECK(set.exit_code == 3);
  CHECK_THAT(set.err, Catch::Contains("/description: the value is not UTF-8: \\xFF"));
}
