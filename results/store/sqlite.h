#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

/// Thin RAII over SQLite. Every failure becomes a StoreError that says what was attempted, on which
/// file, why it failed, and what to do. Not part of the store's interface: used by results/*.cc.
namespace gradwire::results {

struct StoreOptions;

/// One connection. Move-only: two owners would close it twice.
class Connection {
 public:
  enum class Access {
    kReadOnly,
    kReadWrite,  ///< the file must exist
    kCreate,
    kImmutable,  ///< read-only, and nobody else may write: no locks, no -shm file needed
  };
  Connection(const std::string& path, Access access, int busy_timeout_ms);
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Runs one or more statements without parameters. `attempted` starts the error message.
  void execute(const std::string& sql, std::string_view attempted) const;
  /// First column of the first row. Throws if there is none.
  std::int64_t scalar(const std::string& sql, std::string_view attempted) const;
  std::int64_t last_insert_id() const;
  /// Writes all of it, page by page, over whatever `target` is.
  void copy_to(const Connection& target, std::string_view attempted) const;
  /// What a file of it would hold.
  std::string bytes(std::string_view attempted) const;
  /// From now on statements may call `function` of one text under `name`.
  void add_function(const char* name, std::string (*function)(std::string_view)) const;
  /// Rows changed by the latest statement / since the connection was opened.
  std::int64_t changes() const;
  std::int64_t total_changes() const;
  bool in_transaction() const;

  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }
  /// Throws the StoreError of SQLite's latest result code.
  [[noreturn]] void fail(std::string_view attempted) const;

 private:
  sqlite3* handle_ = nullptr;
  std::string path_;
};

/// How a file is read whose writers are unknown: kImmutable where it has no -wal file and none can
/// be made (a CD, a colleague's folder), so that nobody writes and the file alone is the database.
Connection::Access reading_access(const std::string& path);

/// A compiled statement. Parameters are numbered from 1, columns from 0, as in SQLite. Text and
/// blobs are copied when bound. The connection must outlive it.
class Statement {
 public:
  Statement(const Connection& connection, std::string_view sql, std::string_view attempted);
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  Statement& bind(int index, std::int64_t value);
  /// NaN is stored as NULL (SQLite has no NaN); column_number() gives it back as NaN.
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, const std::string& text) {
    return bind(index, std::string_view(text));
  }
  Statement& bind(int index, const char* text) { return bind(index, std::string_view(text)); }
  Statement& bind(int index, std::span<const std::byte> blob);
  Statement& bind_null(int index);
  /// What `row` has in `column`, of whatever type.
  Statement& bind_column(int index, const Statement& row, int column);

  /// True = a row is there; false = done.
  bool step();
  /// Steps a statement without rows, then resets it for the next use.
  void run();
  void reset();

  std::int64_t column_integer(int column) const;
  double column_number(int column) const;
  std::optional<double> column_optional(int column) const;
  std::string column_text(int column) const;
  /// Valid until the next step or reset.
  std::span<const std::byte> column_blob(int column) const;

 private:
  void check(int code) const;
  const Connection* connection_;
  sqlite3_stmt* handle_ = nullptr;
  std::string attempted_;
};

/// Rolls back unless committed, so that an exception leaves all rows or none.
class Transaction {
 public:
  enum class Kind { kRead, kWrite };
  Transaction(const Connection& connection, Kind kind, std::string_view attempted);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  const Connection& connection_;
  std::string attempted_;
  bool open_ = true;
};

}  // namespace gradwire::results
