#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/file_descriptor.h"
#include "results/store/sqlite.h"
#include "tests/results/synthetic_runs.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;

namespace {

std::string page() {
  const char* source = std::getenv("GRADWIRE_SOURCE_DIR");
  return gradwire::read_file(std::string(source ? source : ".") + "/docs/database.md");
}

/// The text of each ```sql block.
std::vector<std::string> examples(const std::string& text) {
  std::vector<std::string> result;
  const std::string start = "```sql\n";
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
    at += start.size();
    result.push_back(text.substr(at, text.find("```", at) - at));
  }
  return result;
}

}  // namespace

TEST_CASE("the page's SQL runs and gives rows", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.db");
  {
    const auto store = Store::open(path, Store::Mode::kReadWrite);
    for (const SyntheticMethod& method : synthetic_methods())
      add_synthetic_run(*store, method, "100Mbps", 1e8, 1);
  }
  const Connection connection(path, Connection::Access::kReadOnly, 0);
  const auto list = examples(page());
  REQUIRE(list.size() == 4);
  for (const std::string& sql : list) {
    INFO(sql);
    Statement statement(connection, sql, "run an example on");
    CHECK(statement.step());
  }
  CHECK_THROWS_AS(Statement(connection, "SELECT nothing FROM runs", "test"), StoreError);
}

TEST_CASE("the page names every table and column", "[store]") {
  const TemporaryFolder folder;
  { Store::open(folder.file("a.db"), Store::Mode::kReadWrite); }
  const Connection connection(folder.file("a.db"), Connection::Access::kReadOnly, 0);
  const std::string text = page();
  Statement columns(connection,
                    "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c "
                    "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
                    "test");
  int seen = 0;
  while (columns.step()) {
    ++seen;
    const std::string table = columns.column_text(0), column = columns.column_text(1);
    INFO(table << "." << column);
    CHECK(text.find("### `" + table + "`") != std::string::npos);
    CHECK(text.find("`" + column + "`") != std::string::npos);
  }
  CHECK(seen > 50);
}
