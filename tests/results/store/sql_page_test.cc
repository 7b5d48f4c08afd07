#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <set>

#include "base/file_descriptor.h"
#include "results/runs/scenario_view.h"
#include "results/store/own_query.h"
#include "results/store/saved_queries.h"
#include "results/store/schema.h"
#include "tests/results/synthetic_runs.h"
#include "tests/results/test_store.h"

// docs/sql.md against the views.

using namespace gradwire::results;
using Catch::Contains;

namespace {

std::string sql_page() {
  const char* source = std::getenv("GRADWIRE_SOURCE_DIR");
  return gradwire::read_file(std::string(source ? source : ".") + "/docs/sql.md");
}

struct Database {
  Database() {
    const auto store = Store::open(path, Store::Mode::kReadWrite);
    for (const SyntheticMethod& method : synthetic_methods())
      for (std::uint64_t seed : {1, 2}) add_synthetic_run(*store, method, "100Mbps", 1e8, seed);
  }
  OwnResult ask(const std::string& sql, const OwnQueryLimits& limits = {}) const {
    auto end = OwnQueryEnd::kDone;
    return own_query(path, sql, limits, end);
  }
  double number(const std::string& sql) const {
    const OwnValue value = ask(sql).rows.at(0).at(0);
    const auto* whole = std::get_if<std::int64_t>(&value);
    return whole ? static_cast<double>(*whole) : std::get<double>(value);
  }
  TemporaryFolder folder;
  std::string path = folder.file("a.db");
};

/// For ever, in one row or in many.
const std::string kEndless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";

}  // namespace

TEST_CASE("the page has every view and every column, and its examples run", "[store]") {
  const Database database;
  const std::string text = sql_page();
  const OwnResult columns = database.ask(
      "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = "
      "'view'");
  std::set<std::string> views;
  for (const auto& row : columns.rows) {
    const std::string view = std::get<std::string>(row[0]), column = std::get<std::string>(row[1]);
    INFO(view << "." << column);
    views.insert(view);
    const std::size_t from = text.find("### `" + view + "`");
    REQUIRE(from != std::string::npos);
    const std::string section = text.substr(from, text.find("\n##", from + 3) - from);
    CHECK(section.find("`" + column + "`") != std::string::npos);
  }
  CHECK(views.size() == 9);
  int examples = 0;
  for (std::size_t at = text.find("```sql\n"); at != std::string::npos;
       at = text.find("```sql\n", at + 7), ++examples) {
    const std::string sql = text.substr(at + 7, text.find("```", at + 7) - at - 7);
    INFO(sql);
    CHECK_FALSE(database.ask(sql).rows.empty());
  }
  CHECK(examples == 3);
}

TEST_CASE("views have the numbers that the program has", "[store]") {
  const Database database;
  const auto store = Store::open(database.path, Store::Mode::kReadOnly);
  const RunSummary run = *store->run(1);
  CHECK(database.number("SELECT count(*) FROM v_runs") == 8);
  CHECK(database.number("SELECT step_time_s FROM v_runs WHERE run = 1") ==
        Approx(*run.step_time_s));
  CHECK(database.number("SELECT bandwidth_bps FROM v_runs WHERE run = 1") == 1e8);
  CHECK(database.number("SELECT delay_s FROM v_runs WHERE run = 1") == Approx(50e-6));
  CHECK(database.number("SELECT link_loss FROM v_runs WHERE run = 1") == Approx(0.001));
  // Two seeds of each method.
  CHECK(database.number("SELECT count(*) FROM v_groups") == 4);
  CHECK(database.number("SELECT min(seeds) FROM v_groups") == 2);
  CHECK(database.number("SELECT step_time_s FROM v_groups WHERE method = 'none'") ==
        Approx((*run.step_time_s + *store->run(2)->step_time_s) / 2));
  // Steps follow each other, so that their durations add up to the run.
  CHECK(database.number("SELECT sum(duration_s) FROM v_steps WHERE run = 1") ==
        Approx(run.simulated_s));
  CHECK(database.number("SELECT max(wire_bytes) FROM v_accuracy WHERE run = 1") ==
        Approx(*run.wire_bytes));
  CHECK(std::get<std::string>(
            database
                .ask("SELECT value FROM v_scenario WHERE run = 1 AND pointer = '/network/topology'")
                .rows.at(0)
                .at(0)) == "star");
}

TEST_CASE("rates and delays of a scenario are numbers, whatever their unit", "[store]") {
  const Database database;
  const auto store = Store::open(database.path, Store::Mode::kReadWrite);
  for (const char* rate : {"9bps", "2.5kbps", "3Mbps", "400Gbps", "1.5Tbps", "2MBps", "3kBps"})
    for (const char* delay : {"5ns", "7us", "1.5ms", "2s", "3min", "1h"}) {
      RunHeader header = sample_header(1, std::string(rate) + delay);
      header.scenario_json = std::string(R"({"network":{"link":{"bandwidth":")") + rate +
                             R"(","delay":")" + delay + "\"}}}";
      const std::string id = std::to_string(store->begin_run(header, 1));
      double bps = 0, seconds = 0;
      REQUIRE(number_from(rate, bps));
      REQUIRE(number_from(delay, seconds));
      CAPTURE(rate, delay);
      CHECK(database.number("SELECT bandwidth_bps FROM v_runs WHERE run = " + id) == Approx(bps));
      CHECK(database.number("SELECT delay_s FROM v_runs WHERE run = " + id) == Approx(seconds));
    }
}

TEST_CASE("a query cannot write, by whatever name", "[store]") {
  const Database database;
  for (const char* sql :
       {"DELETE FROM runs", "INSERT INTO tags VALUES (1, 'x')", "UPDATE runs SET method = 'x'",
        "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)", "DROP VIEW v_runs", "ATTACH 'x.db' AS x",
        "PRAGMA user_version = 3", "PRAGMA journal_mode = DELETE", "VACUUM INTO 'x.db'",
        "UPDATE sqlite_master SET sql = ''", "SELECT load_extension('x')", "BEGIN",
        "SELECT 1; DELETE FROM runs", "SELECT 1; SELECT 2", "", "-- nothing",
        "SELECT nothing FROM runs"}) {
    CAPTURE(sql);
    CHECK_THROWS_AS(database.ask(sql), gradwire::Error);
  }
  CHECK(database.number("SELECT count(*) FROM runs") == 8);
  CHECK(database.number("SELECT 1 ; -- and a comment") == 1);
  CHECK_THROWS_WITH(database.ask("DELETE FROM runs"), Contains("it may only read"));
}

TEST_CASE("a query that runs for ever is stopped, and no result is cut", "[store]") {
  const Database database;
  CHECK_THROWS_WITH(database.ask(kEndless + "sum(i) FROM n", {.seconds = 0.05}),
                    Contains("longer than its limit"));
  CHECK_THROWS_WITH(database.ask(kEndless + "i FROM n", {.rows = 10}),
                    Contains("more than 10 rows"));
  CHECK(database.ask(kEndless + "i FROM n LIMIT 10", {.rows = 10}).rows.size() == 10);
  auto end = OwnQueryEnd::kDone;
  int looks = 0;
  own_query(database.path, kEndless + "sum(i) FROM n",
            {.seconds = 0, .stop = [&] { return ++looks == 3; }}, end);
  CHECK(end == OwnQueryEnd::kStopped);
}

TEST_CASE("values are what they are: texts, numbers, nothing, and the size of a blob", "[store]") {
  const Database database;
  const OwnResult result =
      database.ask("SELECT 'a''\"<b>' AS a, 2, 0.5 AS a, NULL AS n, x'0102' AS b");
  CHECK(result.columns == std::vector<std::string>{"a", "2", "a_2", "n", "b"});
  const auto& row = result.rows.at(0);
  CHECK(std::get<std::string>(row[0]) == "a'\"<b>");
  CHECK(std::get<std::int64_t>(row[1]) == 2);
  CHECK(std::get<double>(row[2]) == 0.5);
  CHECK(std::holds_alternative<std::monostate>(row[3]));
  CHECK(std::get<std::string>(row[4]) == "(2 bytes)");
}

TEST_CASE("a database from before the views gets them when it is opened", "[store]") {
  const Database database;
  {
    const Connection old(database.path, Connection::Access::kReadWrite, 0);
    for (const char* view : {"v_runs", "v_groups", "v_steps", "v_accuracy", "v_figures", "v_notes",
                             "v_updates", "v_links", "v_scenario"})
      old.execute(std::string("DROP VIEW ") + view, "test");
    old.execute("ALTER TABLE runs DROP COLUMN detail", "test");
    old.execute("PRAGMA user_version = 6", "test");
  }
  CHECK_THROWS_AS(database.ask("SELECT * FROM v_runs"), gradwire::Error);
  Store::open(database.path, Store::Mode::kReadOnly);
  CHECK(database.number("SELECT count(*) FROM v_runs") == 8);
  // What flow simulated before it said how finely was mixed.
  CHECK(database.number("SELECT count(*) FROM v_runs WHERE executor = 'flow'") ==
        database.number("SELECT count(*) FROM v_runs WHERE detail = 'mixed'"));
}

TEST_CASE("saved queries are kept in one file, and a broken one is not lost", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("config/gradwire/queries.json");
  CHECK(saved_queries(path).empty());
  save_query(path, "a \"name\"", "SELECT 1");
  save_query(path, "b", "SELECT 2");
  save_query(path, "b", "SELECT 3");
  CHECK(saved_queries(path) ==
        std::map<std::string, std::string>{{"a \"name\"", "SELECT 1"}, {"b", "SELECT 3"}});
  CHECK(forget_query(path, "b"));
  CHECK_FALSE(forget_query(path, "b"));
  for (const std::string& name : {std::string(), std::string("a\nb"), std::string(200, 'x')})
    CHECK_THROWS_AS(save_query(path, name, "SELECT 1"), gradwire::Error);
  gradwire::write_file(path, "{\"queries\":[]}");
  CHECK_THROWS_WITH(save_query(path, "c", "SELECT 1"), Contains("not a file of saved queries"));
  CHECK(gradwire::read_file(path) == "{\"queries\":[]}");
}
