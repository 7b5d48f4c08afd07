#include "results/store/own_query.h"

#include <sqlite3.h>

#include <chrono>
#include <set>
#include <string_view>

#include "base/error.h"
#include "results/store/sqlite.h"
#include "results/store/store.h"

namespace gradwire::results {
namespace {

constexpr const char* kAttempted = "answer the query on";
constexpr int kOperationsBetweenLooks = 10'000;  // about a millisecond
constexpr int kLongestValue = 100'000'000;       // bytes

/// Pragmas that tell what there is.
bool is_telling(const char* pragma) {
  static const std::set<std::string_view> known = {"table_info", "table_xinfo", "table_list",
                                                   "index_list", "index_info"};
  return pragma && known.contains(pragma);
}

int may(void*, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second && std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_UPDATE:  // what pragma_table_info() does to declare itself; the file is read-only
      return first && std::string_view(first) == "sqlite_master" ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
      return is_telling(first) ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

/// Why a query was ended from within.
struct Watch {
  const OwnQueryLimits& limits;
  std::chrono::steady_clock::time_point until;
  bool stopped = false, late = false;

  explicit Watch(const OwnQueryLimits& given)
      : limits(given),
        until(std::chrono::steady_clock::now() +
              std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                  std::chrono::duration<double>(given.seconds))) {}
  static int look(void* self) {
    auto& watch = *static_cast<Watch*>(self);
    watch.stopped = watch.limits.stop && watch.limits.stop();
    watch.late = watch.limits.seconds > 0 && std::chrono::steady_clock::now() > watch.until;
    return watch.stopped || watch.late ? 1 : 0;
  }
};

/// A statement of the user's; its failures are the user's, not the store's.
class OwnStatement {
 public:
  OwnStatement(const Connection& connection, const std::string& sql) : connection_(connection) {
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(connection.handle(), sql.c_str(),
                                        static_cast<int>(sql.size()), &handle_, &rest);
    if (code == SQLITE_AUTH) refuse("it may only read");
    if (code != SQLITE_OK) fail(code);
    if (!handle_) refuse("there is no statement in it");
    if (has_statement(rest)) {
      sqlite3_finalize(handle_);
      refuse("it has more than one statement");
    }
  }
  OwnStatement(const OwnStatement&) = delete;
  OwnStatement& operator=(const OwnStatement&) = delete;
  ~OwnStatement() { sqlite3_finalize(handle_); }

  sqlite3_stmt* handle() const { return handle_; }

  /// True = a row; false = the end, or `watch` ended it.
  bool step(const Watch& watch) {
    const int code = sqlite3_step(handle_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE && !(code == SQLITE_INTERRUPT && watch.stopped)) {
      if (code == SQLITE_INTERRUPT && watch.late)
        throw Error(ErrorKind::kFailure, kAttempted, connection_.path(),
                    "it takes longer than its limit", "ask for less, or give --timeout more");
      fail(code);
    }
    return false;
  }

 private:
  /// Whether there is more than space, comments and semicolons: SQLite finds no statement in those.
  bool has_statement(const char* sql) const {
    while (*sql) {
      sqlite3_stmt* next = nullptr;
      const char* rest = sql;
      const int code = sqlite3_prepare_v2(connection_.handle(), sql, -1, &next, &rest);
      sqlite3_finalize(next);
      if (code != SQLITE_OK || next) return true;
      if (rest == sql) return false;
      sql = rest;
    }
    return false;
  }
  [[noreturn]] void refuse(const char* reason) const {
    throw Error(ErrorKind::kUsage, kAttempted, connection_.path(), reason,
                "give one SELECT; the views are those of docs/sql.md");
  }
  [[noreturn]] void fail(int code) const {
    // Of the query itself: wrong SQL, a name that is not there, a value too long.
    if (code == SQLITE_ERROR || code == SQLITE_TOOBIG || code == SQLITE_MISMATCH)
      throw Error(ErrorKind::kUsage, kAttempted, connection_.path(),
                  sqlite3_errmsg(connection_.handle()), "the views are those of docs/sql.md");
    connection_.fail(kAttempted);
  }

  const Connection& connection_;
  sqlite3_stmt* handle_ = nullptr;
};

OwnValue value_of(sqlite3_stmt* row, int column) {
  const auto bytes = [&] { return static_cast<std::size_t>(sqlite3_column_bytes(row, column)); };
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(row, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(row, column);
    case SQLITE_BLOB:
      return "(" + std::to_string(bytes()) + " bytes)";
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
      return std::string(text, bytes());
    }
  }
}

std::vector<std::string> names_of(sqlite3_stmt* statement) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const std::string name = sqlite3_column_name(statement, i);
    std::string own = name;
    for (int n = 2; !taken.insert(own).second; ++n) own = name + "_" + std::to_string(n);
    names.push_back(own);
  }
  return names;
}

}  // namespace

OwnResult own_query(const std::string& path, const std::string& sql, const OwnQueryLimits& limits,
                    OwnQueryEnd& end) {
  const Connection connection(path, reading_access(path), 5000);
  connection.execute("PRAGMA query_only=ON", kAttempted);
  sqlite3_limit(connection.handle(), SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_set_authorizer(connection.handle(), may, nullptr);
  Watch watch(limits);
  sqlite3_progress_handler(connection.handle(), kOperationsBetweenLooks, Watch::look, &watch);
  OwnStatement statement(connection, sql);
  OwnResult result;
  result.columns = names_of(statement.handle());
  while (statement.step(watch)) {
    if (result.rows.size() == limits.rows)
      throw Error(ErrorKind::kFailure, kAttempted, path,
                  "it has more than " + std::to_string(limits.rows) + " rows",
                  "ask for less (LIMIT), or give --rows more");
    result.rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement.handle()); ++i)
      result.rows.back().push_back(value_of(statement.handle(), i));
  }
  end = watch.stopped ? OwnQueryEnd::kStopped : OwnQueryEnd::kDone;
  return result;
}

}  // namespace gradwire::results
