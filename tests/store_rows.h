#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "results/store/sqlite.h"
#include "results/store/store.h"

/// Every row of a results database as text, for holding two databases against each other.
namespace gradwire::testing {

/// How many runs a database has that another process may be making at this moment: none where there
/// is no file yet, or one that is still empty.
inline std::int64_t runs_in(const std::string& path) {
  std::error_code absent;
  const std::uintmax_t bytes = std::filesystem::file_size(path, absent);
  if (absent || bytes == 0) return 0;
  using results::Store;
  return static_cast<std::int64_t>(Store::open(path, Store::Mode::kReadOnly)->runs().size());
}

/// Of the runs in their order, and of all tables but checkpoints: each run's rows with all columns
/// but numbers that are a database's own (`id`, `run_id`, `scenario_id`) and those in `but`.
/// Figures of the whole run named in `but` are left out, too.
inline std::vector<std::multiset<std::string>> rows_by_run(const std::string& path,
                                                           const std::set<std::string>& but = {}) {
  using results::Connection, results::Statement;
  const Connection connection(path, Connection::Access::kReadOnly, 0);
  std::vector<std::multiset<std::string>> runs;
  Statement list(connection, "SELECT id FROM runs ORDER BY id", "test");
  while (list.step()) {
    std::multiset<std::string>& rows = runs.emplace_back();
    for (const std::string table :
         {"runs", "scenarios", "steps", "metrics", "timelines", "links", "tags"}) {
      std::string columns = "'" + table + "'";
      Statement names(connection, "SELECT name FROM pragma_table_info(?)", "test");
      names.bind(1, table);
      while (names.step())
        if (const std::string name = names.column_text(0);
            name != "id" && name != "scenario_id" && name != "run_id" && !but.contains(name))
          columns += " || ' ' || quote(" + name + ")";
      const std::string key = table == "runs" ? "id = ?"
                              : table == "scenarios"
                                  ? "id = (SELECT scenario_id FROM runs WHERE id = ?)"
                                  : "run_id = ?";
      const std::string name = table == "metrics" ? ", name" : ", ''";
      Statement all(connection, "SELECT " + columns + name + " FROM " + table + " WHERE " + key,
                    "test");
      all.bind(1, list.column_integer(0));
      while (all.step())
        if (!but.contains(all.column_text(1))) rows.insert(all.column_text(0));
    }
  }
  return runs;
}

}  // namespace gradwire::testing
