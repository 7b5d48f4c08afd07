#include "results/store/sqlite.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "base/error.h"
#include "results/store/store.h"

namespace gradwire::results {
namespace {

/// A relative path may start with "file:" or hold '?': as a URI both are escaped.
std::string uri_of(const std::string& path) {
  static const char* digits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char letter : path) {
    if (letter != '%' && letter != '?' && letter != '#') {
      uri += letter;
      continue;
    }
    const auto code = static_cast<unsigned char>(letter);
    uri += '%';
    uri += digits[code >> 4];
    uri += digits[code & 15];
  }
  return uri + "?immutable=1";
}

struct Advice {
  std::string_view reason;
  std::string_view remedy;
};

Advice advice_for(int code) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {"another process holds its write lock",
              "wait until that process has finished, or use another database with --db"};
    case SQLITE_READONLY:
      return {"the file or its folder is read-only",
              "make both writable, or use another database with --db"};
    case SQLITE_CORRUPT:
      return {"the file is damaged",
              "keep it as it is, recover with `sqlite3 FILE .recover`, or restore a copy"};
    case SQLITE_NOTADB:
      return {"the file is not a SQLite database", "name a results database with --db"};
    case SQLITE_FULL:
      return {"the disk is full", "free some space; all that was stored before is kept"};
    case SQLITE_CANTOPEN:
      return {"the file cannot be opened",
              "check that it and its folder exist and that you may use them"};
    case SQLITE_IOERR:
      return {"the disk gave an input/output error", "check the disk and its free space"};
    case SQLITE_PROTOCOL:
    case SQLITE_NOLFS:
      return {"its file system has no locks that work",
              "put the database on a local disk, or name another with --db"};
    case SQLITE_NOMEM:
      return {"there is not enough memory", "free some"};
    case SQLITE_INTERRUPT:
      return {{}, "run it again"};
    default:
      return {{}, "check the file with `sqlite3 FILE \"PRAGMA integrity_check\"`"};
  }
}

}  // namespace

Connection::Access reading_access(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const bool still =
      ::access((path + "-wal").c_str(), F_OK) != 0 && ::access(folder.c_str(), W_OK) != 0;
  return still ? Connection::Access::kImmutable : Connection::Access::kReadOnly;
}

void Connection::fail(std::string_view attempted) const {
  const int code = sqlite3_extended_errcode(handle_);
  const std::string words = sqlite3_errmsg(handle_);
  const Advice advice = advice_for(code);
  const std::string reason =
      advice.reason.empty() ? words : std::string(advice.reason) + " (" + words + ")";
  throw StoreError(attempted, path_, reason, advice.remedy);
}

Connection::Connection(const std::string& path, Access access, int busy_timeout_ms) : path_(path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw StoreError("open the results database", path, "it is a folder", "name a file in it");
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (access == Access::kReadOnly) flags |= SQLITE_OPEN_READONLY;
  if (access == Access::kReadWrite) flags |= SQLITE_OPEN_READWRITE;
  if (access == Access::kCreate) flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (access == Access::kImmutable) flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  const std::string name = access == Access::kImmutable ? uri_of(path) : path;
  try {
    if (sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr) != SQLITE_OK)
      fail("open the results database");
    sqlite3_busy_timeout(handle_, busy_timeout_ms);
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Connection::Connection(Connection&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

Connection::~Connection() {
  sqlite3_close_v2(handle_);
}

void Connection::execute(const std::string& sql, std::string_view attempted) const {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(attempted);
}

std::int64_t Connection::scalar(const std::string& sql, std::string_view attempted) const {
  Statement statement(*this, sql, attempted);
  if (!statement.step()) throw StoreError(attempted, path_, "the query gave no row");
  return statement.column_integer(0);
}

void Connection::copy_to(const Connection& target, std::string_view attempted) const {
  sqlite3_backup* const backup = sqlite3_backup_init(target.handle_, "main", handle_, "main");
  if (!backup) target.fail(attempted);
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE) return;
  if (sqlite3_errcode(target.handle_) != SQLITE_OK) target.fail(attempted);
  throw StoreError(attempted, path_, sqlite3_errstr(code), "try again when nobody writes to it");
}

std::string Connection::bytes(std::string_view attempted) const {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> data(
      sqlite3_serialize(handle_, "main", &size, 0), sqlite3_free);
  if (!data) throw StoreError(attempted, path_, "there is not enough memory", "free some");
  return {reinterpret_cast<const char*>(data.get()), static_cast<std::size_t>(size)};
}

void Connection::add_function(const char* name, std::string (*function)(std::string_view)) const {
  const auto call = [](sqlite3_context* context, int, sqlite3_value** values) {
    const auto its =
        reinterpret_cast<std::string (*)(std::string_view)>(sqlite3_user_data(context));
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
    const std::string result = its(text ? text : "");
    sqlite3_result_text64(context, result.data(), result.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  };
  if (sqlite3_create_function_v2(handle_, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                 reinterpret_cast<void*>(function), call, nullptr, nullptr,
                                 nullptr) != SQLITE_OK)
    fail("add a function to");
}

std::int64_t Connection::last_insert_id() const {
  return sqlite3_last_insert_rowid(handle_);
}
std::int64_t Connection::changes() const {
  return sqlite3_changes64(handle_);
}
std::int64_t Connection::total_changes() const {
  return sqlite3_total_changes64(handle_);
}
bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

Statement::Statement(const Connection& connection, std::string_view sql, std::string_view attempted)
    : connection_(&connection), attempted_(attempted) {
  if (sqlite3_prepare_v2(connection.handle(), sql.data(), static_cast<int>(sql.size()), &handle_,
                         nullptr) != SQLITE_OK)
    connection.fail(attempted);
}

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      handle_(std::exchange(other.handle_, nullptr)),
      attempted_(std::move(other.attempted_)) {}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) connection_->fail(attempted_);
}

Statement& Statement::bind(int index, std::int64_t value) {
  check(sqlite3_bind_int64(handle_, index, value));
  return *this;
}

Statement& Statement::bind(int index, double value) {
  if (std::isnan(value)) return bind_null(index);
  check(sqlite3_bind_double(handle_, index, value));
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  check(sqlite3_bind_text64(handle_, index, text.data() ? text.data() : "", text.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int index, std::span<const std::byte> blob) {
  if (blob.empty()) {
    check(sqlite3_bind_zeroblob(handle_, index, 0));
    return *this;
  }
  check(sqlite3_bind_blob64(handle_, index, blob.data(), blob.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_null(int index) {
  check(sqlite3_bind_null(handle_, index));
  return *this;
}

Statement& Statement::bind_column(int index, const Statement& row, int column) {
  check(sqlite3_bind_value(handle_, index, sqlite3_column_value(row.handle_, column)));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) connection_->fail(attempted_);
  return false;
}

void Statement::run() {
  GRADWIRE_ASSERT(!step());
  reset();
}

void Statement::reset() {
  sqlite3_reset(handle_);
}

std::int64_t Statement::column_integer(int column) const {
  return sqlite3_column_int64(handle_, column);
}

double Statement::column_number(int column) const {
  if (sqlite3_column_type(handle_, column) == SQLITE_NULL)
    return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(handle_, column);
}

std::optional<double> Statement::column_optional(int column) const {
  if (sqlite3_column_type(handle_, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(handle_, column);
}

std::string Statement::column_text(int column) const {
  const unsigned char* text = sqlite3_column_text(handle_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return text ? std::string(reinterpret_cast<const char*>(text), size) : std::string();
}

std::span<const std::byte> Statement::column_blob(int column) const {
  const void* data = sqlite3_column_blob(handle_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return {static_cast<const std::byte*>(data), data ? size : 0};
}

Transaction::Transaction(const Connection& connection, Kind kind, std::string_view attempted)
    : connection_(connection), attempted_(attempted) {
  connection_.execute(kind == Kind::kRead ? "BEGIN" : "BEGIN IMMEDIATE", attempted);
}

Transaction::~Transaction() {
  // A full disk may have rolled back already; a rollback without transaction is no error to report.
  if (open_ && connection_.in_transaction())
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  connection_.execute("COMMIT", attempted_);
  open_ = false;
}

}  // namespace gradwire::results
