#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;

namespace {

constexpr const char* kSweep = R"({"schema_version": 1, "name": "parts",
  "workload": {"collective": "ring-all-reduce", "bytes": "1MB", "repetitions": 2},
  "cluster": {"workers": 4}, "executor": "model",
  "sweep": {"/network/link/bandwidth": ["100Mbps", "1Gbps"]}})";

}  // namespace

TEST_CASE("merge counts what it adds, once", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("s.json"), kSweep);
  for (const std::string name : {"a.db", "b.db"})
    REQUIRE(
        run_program({"run", folder.file("s.json"), "--no-report", "-q", "--db", folder.file(name)})
            .exit_code == 0);
  const auto merged = [&] {
    const Result result = run_program({"merge", folder.file("a.db"), folder.file("b.db"), "--db",
                                       folder.file("all.db"), "--format", "json"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return nlohmann::json::parse(result.out).at("rows");
  };
  const auto first = merged();
  REQUIRE(first.size() == 2);
  CHECK(first[0].at("name") == folder.file("a.db"));
  CHECK(first[0].at("added") == 2);
  CHECK(first[1].at("added") == 2);  // equal figures, but runs of their own
  const auto second = merged();
  CHECK(second[0].at("added") == 0);
  CHECK(second[1].at("present") == 2);
  const Result list = run_program({"list", "--db", folder.file("all.db"), "--format", "json"});
  const auto rows = nlohmann::json::parse(list.out).at("rows");
  CHECK(rows.size() == 4);
  CHECK_FALSE(rows[0].at("node").get<std::string>().empty());
  CHECK(rows[0].at("rank").is_null());
  // One machine, no ranks: there is nothing to tell runs apart by.
  CHECK_THAT(run_program({"list", "--wide", "--db", folder.file("all.db")}).out, !Contains("rank"));
}

TEST_CASE("merge refuses what it cannot read before it makes anything", "[unit]") {
  const TemporaryFolder folder;
  const std::string target = folder.file("all.db");
  const Result missing = run_program({"merge", folder.file("none.db"), "--db", target});
  CHECK(missing.exit_code == 6);
  CHECK_THAT(missing.err, Contains("cannot merge " + folder.file("none.db")) &&
                              Contains("there is no such file"));
  CHECK_FALSE(std::filesystem::exists(target));
  // A source that is there and no database: the target, made for it, goes away again.
  write_file(folder.file("notes.db"), "a note");
  CHECK(run_program({"merge", folder.file("notes.db"), "--db", target}).exit_code == 6);
  CHECK_FALSE(std::filesystem::exists(target));
  write_file(folder.file("s.json"), kSweep);
  REQUIRE(
      run_program({"run", folder.file("s.json"), "--no-report", "-q", "--db", target}).exit_code ==
      0);
  const Result itself = run_program({"merge", target, "--db", target});
  CHECK(itself.exit_code == 6);
  CHECK_THAT(itself.err, Contains("leave it out"));
  CHECK(run_program({"merge"}).exit_code == 2);
}
