#include "results/store/run_copier.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace gradwire::results {
namespace {

constexpr const char* kReadToMerge = "read runs to merge from";
constexpr const char* kMergeInto = "merge runs into";
constexpr std::array kCopiedTables = {"steps", "metrics", "timelines", "links", "tags"};

struct Columns {
  std::string names;  ///< "a, b, c"
  int count = 0;
};

/// Of a table, without keys that are this database's own; generated ones are not listed.
Columns columns_of(const Connection& connection, const std::string& table,
                   const std::vector<std::string>& own) {
  Columns columns;
  Statement list(connection, "SELECT name FROM pragma_table_info(?)", kMergeInto);
  list.bind(1, table);
  while (list.step()) {
    const std::string name = list.column_text(0);
    if (std::ranges::find(own, name) != own.end()) continue;
    columns.names += (columns.names.empty() ? "" : ", ") + name;
    ++columns.count;
  }
  GRADWIRE_ASSERT(columns.count > 0);
  return columns;
}

/// ", ?, ?": so many.
std::string parameters(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += ", ?";
  return text;
}

}  // namespace

RowCopier::RowCopier(const Connection& from, const Connection& to, const std::string& table)
    : columns_(columns_of(to, table, {"run_id"}).count),
      select_(from,
              "SELECT " + columns_of(to, table, {"run_id"}).names + " FROM " + table +
                  " WHERE run_id = ?",
              kReadToMerge),
      insert_(to,
              "INSERT INTO " + table + " (run_id, " + columns_of(to, table, {"run_id"}).names +
                  ") VALUES (?" + parameters(columns_) + ")",
              kMergeInto) {}

void RowCopier::copy(RunId run, RunId as) {
  select_.bind(1, run);
  while (select_.step()) {
    insert_.bind(1, as);
    for (int i = 0; i < columns_; ++i) insert_.bind_column(2 + i, select_, i);
    insert_.run();
  }
  select_.reset();
}

RunCopier::RunCopier(const Connection& from, const Connection& to)
    : to_(to),
      run_columns_(columns_of(to, "runs", {"id", "scenario_id"}).names),
      run_column_count_(columns_of(to, "runs", {"id", "scenario_id"}).count),
      select_run_(from, "SELECT " + run_columns_ + " FROM runs WHERE id = ?", kReadToMerge),
      insert_run_(to,
                  "INSERT INTO runs (id, scenario_id, " + run_columns_ + ") VALUES (?, ?" +
                      parameters(run_column_count_) + ")",
                  kMergeInto),
      select_scenario_(from,
                       "SELECT digest, hash, name, file, json FROM scenarios WHERE id = (SELECT "
                       "scenario_id FROM runs WHERE id = ?)",
                       kReadToMerge),
      insert_scenario_(to,
                       "INSERT INTO scenarios (digest, hash, name, file, json) VALUES "
                       "(?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
                       kMergeInto),
      find_scenario_(to, "SELECT id FROM scenarios WHERE digest = ?", kMergeInto) {
  for (const char* table : kCopiedTables) rows_.emplace_back(from, to, table);
}

std::int64_t RunCopier::copy_scenario(RunId run) {
  select_scenario_.bind(1, run);
  if (!select_scenario_.step())
    throw StoreError(kReadToMerge, "run " + std::to_string(run), "it has no scenario",
                     "the database may be damaged");
  for (int i = 0; i < 5; ++i) insert_scenario_.bind_column(1 + i, select_scenario_, i);
  insert_scenario_.run();
  find_scenario_.bind_column(1, select_scenario_, 0);
  GRADWIRE_ASSERT(find_scenario_.step());
  const std::int64_t id = find_scenario_.column_integer(0);
  find_scenario_.reset();
  select_scenario_.reset();
  return id;
}

RunId RunCopier::copy(RunId run, RunId as) {
  const std::int64_t scenario = copy_scenario(run);
  select_run_.bind(1, run);
  GRADWIRE_ASSERT(select_run_.step());
  if (as > 0)
    insert_run_.bind(1, as);
  else
    insert_run_.bind_null(1);
  insert_run_.bind(2, scenario);
  for (int i = 0; i < run_column_count_; ++i) insert_run_.bind_column(3 + i, select_run_, i);
  insert_run_.run();
  select_run_.reset();
  const RunId here = as > 0 ? as : to_.last_insert_id();
  for (RowCopier& rows : rows_) rows.copy(run, here);
  return here;
}

}  // namespace gradwire::results
