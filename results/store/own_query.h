#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

/// People's own SQL over a results database, which it can only read.
namespace gradwire::results {

using OwnValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct OwnResult {
  std::vector<std::string> columns;         ///< names made unique: "a", "a_2"
  std::vector<std::vector<OwnValue>> rows;  ///< a blob is the text "(12 bytes)"
};

struct OwnQueryLimits {
  double seconds = 60;              ///< wall time; 0 = any
  std::size_t rows = 100'000;       ///< more is an error, not a cut result
  std::function<bool()> stop = {};  ///< asked about every millisecond; true ends the query
};

enum class OwnQueryEnd { kDone, kStopped };

/// One SELECT (or WITH, VALUES, EXPLAIN) over the tables and views of docs/sql.md. Nothing else is
/// let in: no writing, no ATTACH, no PRAGMA but those that tell of tables, no extension. Throws
/// Error: what is refused (usage), wrong SQL in SQLite's words (usage), more rows than the limit or
/// longer than it (failure); StoreError where the file cannot be read. `end`: whether `stop` ended
/// it, so that rows are missing.
OwnResult own_query(const std::string& path, const std::string& sql, const OwnQueryLimits& limits,
                    OwnQueryEnd& end);

}  // namespace gradwire::results
