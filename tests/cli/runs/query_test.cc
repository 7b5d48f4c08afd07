#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;

namespace {

/// Runs of a shipped scenario that takes no training.
struct StoredRuns {
  StoredRuns() {
    REQUIRE(
        run_program({"run", source_path("scenarios/alexnet.json"), "--db", db, "--no-report", "-q"})
            .exit_code == 0);
  }
  Result ask(const std::string& sql, std::vector<std::string> rest = {},
             const std::string& prefix = {}) const {
    std::vector<std::string> arguments = {"query", "--db", db};
    if (!sql.empty()) arguments.push_back(sql);
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return run_program(arguments, prefix.empty() ? prefix : prefix + " exec \"$@\"");
  }
  TemporaryFolder folder;
  std::string db = folder.file("runs.db");
};

const std::string kForEver =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n";

}  // namespace

TEST_CASE("query answers in the form that is asked for") {
  const StoredRuns runs;
  const std::string sql = "SELECT method, workers FROM v_runs ORDER BY run";
  CHECK_THAT(runs.ask(sql, {"--format", "csv"}).out, Contains("method,workers\nnone,8\nfp16,8"));
  CHECK_THAT(runs.ask(sql, {"--format", "json"}).out,
             Contains("\"method\": \"none\"") || Contains("\"method\":\"none\""));
  CHECK_THAT(runs.ask(sql, {"--format", "markdown"}).out, Contains("| terngrad"));
  CHECK_THAT(runs.ask(sql).out, Contains("terngrad"));
}

TEST_CASE("a query that writes, is wrong, or takes too long ends with its exit code") {
  const StoredRuns runs;
  CHECK(runs.ask("DELETE FROM runs").exit_code == 2);
  CHECK_THAT(runs.ask("DELETE FROM runs").err, Contains("it may only read"));
  CHECK(runs.ask("SELECT nothing FROM runs").exit_code == 2);
  CHECK_THAT(runs.ask("SELECT absent FROM runs").err, Contains("no such column: absent"));
  const Result late = runs.ask(kForEver, {"--timeout", "100ms"});
  CHECK(late.exit_code == 1);
  CHECK_THAT(late.err, Contains("longer than its limit"));
  CHECK(runs.ask("SELECT run FROM v_runs", {"--rows", "2"}).exit_code == 1);
  // As Ctrl-C does.
  const Result stopped = run_program({"query", "--db", runs.db, kForEver, "--timeout", "0s"},
                                     "exec timeout --preserve-status -s INT 1 \"$@\"");
  CHECK(stopped.exit_code == 130);
}

TEST_CASE("what others wrote stays text on a terminal") {
  const StoredRuns runs;
  const std::string sql = "SELECT char(27) || '[2J<b>|,\"' AS name";
  CHECK_THAT(runs.ask(sql).out, Contains("\\x1B[2J<b>") || Contains("\\x1b[2J<b>"));
  CHECK_THAT(runs.ask(sql).out, !Contains("\x1b"));
  CHECK_THAT(runs.ask(sql, {"--format", "csv"}).out, Contains("\"\""));
}

TEST_CASE("queries are saved by name, listed, asked again and forgotten") {
  const StoredRuns runs;
  const std::string home = "export XDG_CONFIG_HOME='" + runs.folder.file("config") + "';";
  CHECK(runs.ask("SELECT run FROM nowhere", {"--save", "bad"}, home).exit_code == 2);
  REQUIRE(runs.ask("SELECT count(*) AS runs FROM v_runs", {"--save", "count"}, home).exit_code ==
          0);
  CHECK_THAT(runs.ask("", {"--list"}, home).out, Contains("count") && !Contains("nowhere"));
  CHECK(runs.ask("", {"--saved", "count", "--format", "csv"}, home).out == "runs\n4\n");
  CHECK(runs.ask("", {"--saved", "cuont"}, home).exit_code == 2);
  CHECK(runs.ask("", {"--forget", "count"}, home).exit_code == 0);
  CHECK(runs.ask("", {"--forget", "count"}, home).exit_code == 2);
  CHECK(runs.ask("", {}, home).exit_code == 2);
}
