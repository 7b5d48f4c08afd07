#include "results/store/sqlite_store.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

#include "base/hash.h"
#include "base/plain_text.h"
#include "results/store/schema.h"
#include "results/store/timeline_blob.h"

namespace gradwire::results {
namespace {

constexpr const char* kOpen = "open the results database";

std::string now_utc() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

/// Puts the database into write-ahead mode, waiting `busy_timeout_ms` for others that do the same.
/// SQLite's own wait does not cover this: of two that read the first page and want to write it, it
/// refuses one at once, as neither would give way (sqlite.org/c3ref/busy_handler.html).
void use_write_ahead_log(const Connection& connection, int busy_timeout_ms) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_timeout_ms);
  while (sqlite3_exec(connection.handle(), "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr) !=
         SQLITE_OK) {
    const bool busy = (sqlite3_extended_errcode(connection.handle()) & 0xff) == SQLITE_BUSY;
    if (!busy || std::chrono::steady_clock::now() >= until) connection.fail(kOpen);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Connection open_writer(const std::string& path, const StoreOptions& options) {
  Connection connection(path, Connection::Access::kCreate, options.busy_timeout_ms);
  checked_version(connection, schema_version());
  use_write_ahead_log(connection, options.busy_timeout_ms);
  connection.execute("PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON", kOpen);
  if (options.max_bytes > 0) {
    const std::int64_t page = connection.scalar("PRAGMA page_size", kOpen);
    connection.execute("PRAGMA max_page_count=" + std::to_string(options.max_bytes / page), kOpen);
  }
  migrate(connection, migrations());
  // Opening does not write; ask now whether writing would work, not after an hour of training.
  { const Transaction ask(connection, Transaction::Kind::kWrite, "write to the results database"); }
  return connection;
}

Connection open_reader(const std::string& path, const StoreOptions& options) {
  if (!exists(path))
    throw StoreError(kOpen, path, "there is no such file",
                     "run a scenario first, or name another database with --db");
  std::error_code unknown;
  if (std::filesystem::file_size(path, unknown) == 0 && !unknown && !exists(path + "-wal"))
    throw StoreError(kOpen, path, "the file is empty",
                     "run a scenario first, or name another database with --db");
  Connection connection(path, reading_access(path), options.busy_timeout_ms);
  if (checked_version(connection, schema_version()) < schema_version())
    open_writer(path, options);  // an older or empty database: bring it up to date first
  return connection;
}

}  // namespace

std::unique_ptr<Store> Store::open(const std::string& path, Mode mode,
                                   const StoreOptions& options) {
  // SQLite waits for ever at a pipe, and takes a device for an empty database.
  std::error_code unknown;
  const auto kind = std::filesystem::status(path, unknown).type();
  if (kind == std::filesystem::file_type::fifo || kind == std::filesystem::file_type::character ||
      kind == std::filesystem::file_type::socket || kind == std::filesystem::file_type::block)
    throw StoreError("open", path, "it is no file");
  const bool writable = mode == Mode::kReadWrite;
  return std::make_unique<SqliteStore>(
      writable ? open_writer(path, options) : open_reader(path, options), writable);
}

std::unique_ptr<Store> Store::in_memory() {
  return std::make_unique<SqliteStore>(open_writer(":memory:", {}), true);
}

void SqliteStore::require_writable(std::string_view attempted) const {
  if (!writable_) throw StoreError(attempted, connection_.path(), "it was opened for reading only");
}

std::string SqliteStore::subject_of(RunId run) const {
  return "run " + std::to_string(run) + " of " + connection_.path();
}

void SqliteStore::require_changed(RunId run, std::string_view attempted) const {
  if (connection_.changes() == 0) no_such_run(run, attempted);
}

void SqliteStore::require_run(RunId run, std::string_view attempted) const {
  Statement find(connection_, "SELECT 1 FROM runs WHERE id = ?", attempted);
  if (!find.bind(1, run).step()) no_such_run(run, attempted);
}

void SqliteStore::no_such_run(RunId run, std::string_view attempted) const {
  throw StoreError(attempted, subject_of(run), "there is no such run",
                   "list the runs with `gradwire list`");
}

std::int64_t SqliteStore::scenario_id(const RunHeader& header) {
  Hasher hasher;
  for (const std::string* part :
       {&header.scenario_hash, &header.scenario_name, &header.scenario_file, &header.scenario_json})
    hasher.add_text(*part);
  const std::string digest = hasher.hex();
  constexpr const char* attempted = "store a scenario in";
  Statement insert(connection_,
                   "INSERT INTO scenarios (digest, hash, name, file, json) VALUES (?,?,?,?,?) "
                   "ON CONFLICT (digest) DO NOTHING",
                   attempted);
  insert.bind(1, digest).bind(2, header.scenario_hash).bind(3, header.scenario_name);
  insert.bind(4, header.scenario_file).bind(5, header.scenario_json).run();
  Statement select(connection_, "SELECT id FROM scenarios WHERE digest = ?", attempted);
  select.bind(1, digest).step();
  return select.column_integer(0);
}

RunId SqliteStore::insert_run(const RunHeader& header, std::int64_t steps_total,
                              std::int64_t scenario) {
  Statement insert(connection_,
                   "INSERT INTO runs (scenario_id, scenario_hash, seed, method, executor, model, "
                   "data_set, workers, host, version, device, compute_provenance, status, "
                   "started_at, steps_total, node, rank, uid, detail) VALUES "
                   "(?,?,?,?,?,?,?,?,?,?,?,?,'running',?,?,?,?,coalesce(?, "
                   "lower(hex(randomblob(16)))),?)",
                   "store a run in");
  insert.bind(1, scenario).bind(2, header.scenario_hash);
  insert.bind(3, static_cast<std::int64_t>(header.seed));
  insert.bind(4, header.method).bind(5, header.executor).bind(6, header.model);
  insert.bind(7, header.data_set).bind(8, std::int64_t{header.workers}).bind(9, header.host);
  insert.bind(10, header.version).bind(11, header.device).bind(12, header.compute_provenance);
  insert.bind(13, now_utc()).bind(14, steps_total).bind(15, header.node);
  if (header.rank) insert.bind(16, std::int64_t{*header.rank});
  if (!header.uid.empty()) insert.bind(17, header.uid);
  insert.bind(18, header.detail);
  insert.run();
  return connection_.last_insert_id();
}

RunId SqliteStore::begin_run(const RunHeader& header, std::int64_t steps_total) {
  const std::scoped_lock lock(mutex_);
  require_writable("begin a run in");
  Transaction transaction(connection_, Transaction::Kind::kWrite, "begin a run in");
  const RunId run = insert_run(header, steps_total, scenario_id(header));
  transaction.commit();
  return run;
}

void SqliteStore::set_detail(RunId run, const std::string& detail) {
  const std::scoped_lock lock(mutex_);
  require_writable("note the detail of a run in");
  Statement statement(connection_, "UPDATE runs SET detail = ? WHERE id = ?",
                      "note the detail of run " + std::to_string(run) + " in");
  statement.bind(1, detail).bind(2, run).run();
}

void SqliteStore::insert_steps(RunId run, std::span<const StepRow> steps) {
  if (steps.empty()) return;
  Statement insert(
      connection_,
      "INSERT INTO steps (run_id, step, loss, start_s, end_s, payload_bytes, wire_bytes, "
      "retransmissions, compute_s, codec_s, exposed_s, exposed_codec_s) "
      "VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
      "store steps of run " + std::to_string(run) + " in");
  double end = 0;
  for (const StepRow& row : steps) {
    insert.bind(1, run).bind(2, row.step).bind(3, row.loss).bind(4, row.start_s);
    insert.bind(5, row.end_s).bind(6, row.payload_bytes).bind(7, row.wire_bytes);
    insert.bind(8, row.retransmissions).bind(9, row.compute_s).bind(10, row.codec_s);
    insert.bind(11, row.exposed_s).bind(12, row.exposed_codec_s).run();
    end = std::max(end, row.end_s);
  }
  Statement update(connection_,
                   "UPDATE runs SET steps_done = steps_done + ?, simulated_s = max(simulated_s, ?) "
                   "WHERE id = ?",
                   "store steps in");
  update.bind(1, static_cast<std::int64_t>(steps.size())).bind(2, end).bind(3, run).run();
}

void SqliteStore::insert_metrics(RunId run, std::span<const MetricRow> metrics) {
  if (metrics.empty()) return;
  Statement insert(connection_, "INSERT OR REPLACE INTO metrics VALUES (?,?,?,?,?,?)",
                   "store metrics of run " + std::to_string(run) + " in");
  for (const MetricRow& row : metrics) {
    insert.bind(1, run).bind(2, row.name).bind(3, row.step).bind(4, row.value);
    insert.bind(5, row.unit).bind(6, name_of(row.provenance)).run();
  }
}

void SqliteStore::append(RunId run, std::span<const StepRow> steps,
                         std::span<const MetricRow> metrics) {
  const std::scoped_lock lock(mutex_);
  require_writable("store steps in");
  Transaction transaction(connection_, Transaction::Kind::kWrite, "store steps in");
  require_run(run, "store steps of");
  insert_steps(run, steps);
  insert_metrics(run, metrics);
  transaction.commit();
}

void SqliteStore::put_timeline(RunId run, std::string_view provenance,
                               std::span<const TimelineSegment> segments) {
  const std::scoped_lock lock(mutex_);
  require_writable("store a timeline in");
  std::vector<TimelineSegment> sorted(segments.begin(), segments.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.step < b.step; });
  Transaction transaction(connection_, Transaction::Kind::kWrite, "store a timeline in");
  require_run(run, "store a timeline of");
  Statement insert(connection_, "INSERT OR REPLACE INTO timelines VALUES (?,?,?,?,?)",
                   "store a timeline of run " + std::to_string(run) + " in");
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto last = std::find_if(first, sorted.end(),
                                   [&](const auto& other) { return other.step != first->step; });
    const std::vector<std::byte> data = pack_timeline({first, last});
    insert.bind(1, run).bind(2, first->step).bind(3, provenance);
    insert.bind(4, std::int64_t{last - first}).bind(5, std::span(data)).run();
    first = last;
  }
  transaction.commit();
}

/// A series is packed like a step's timeline: an interval is a segment.
void SqliteStore::put_links(RunId run, std::span<const LinkSeries> links) {
  const std::scoped_lock lock(mutex_);
  require_writable("store link series in");
  Transaction transaction(connection_, Transaction::Kind::kWrite, "store link series in");
  require_run(run, "store link series of");
  Statement insert(connection_, "INSERT OR REPLACE INTO links VALUES (?,?,?,?,?,?)",
                   "store link series of run " + std::to_string(run) + " in");
  std::int64_t place = 0;
  for (const LinkSeries& link : links) {
    std::vector<TimelineSegment> packed;
    for (const LinkSeries::Interval& each : link.intervals)
      packed.push_back(
          {0, link.channel, kTransferLane, "", each.start_s, each.end_s, each.wire_bytes});
    const std::vector<std::byte> data = pack_timeline(packed);
    insert.bind(1, run).bind(2, std::int64_t{link.channel}).bind(3, place++);
    insert.bind(4, link.name).bind(5, link.rate_bps).bind(6, std::span(data)).run();
  }
  transaction.commit();
}

void SqliteStore::finish_run(RunId run, RunStatus status, const std::string& error,
                             const std::string& learning_hash, const std::string& timeline_hash,
                             std::span<const MetricRow> finals) {
  const std::scoped_lock lock(mutex_);
  require_writable("finish a run in");
  constexpr std::array columns = {"final_loss",        "final_accuracy", "step_time_s",
                                  "compression_ratio", "traffic_ratio",  "time_to_target_s",
                                  "wire_bytes"};
  // A finished run also survives a power cut: this one commit is flushed to the disk.
  connection_.execute("PRAGMA synchronous=FULL", "finish a run in");
  Transaction transaction(connection_, Transaction::Kind::kWrite, "finish a run in");
  Statement update(
      connection_,
      "UPDATE runs SET status=?, error=?, learning_hash=?, timeline_hash=?, "
      "ended_at=?, final_loss=?, final_accuracy=?, step_time_s=?, compression_ratio=?, "
      "traffic_ratio=?, time_to_target_s=?, wire_bytes=? WHERE id=?",
      "finish run " + std::to_string(run) + " in");
  update.bind(1, name_of(status)).bind(2, error).bind(3, learning_hash).bind(4, timeline_hash);
  update.bind(5, now_utc()).bind(13, run);
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (const MetricRow& row : finals)
      if (row.name == columns[i]) update.bind(static_cast<int>(6 + i), row.value);
  update.run();
  require_changed(run, "finish");
  insert_metrics(run, finals);
  transaction.commit();
  connection_.execute("PRAGMA synchronous=NORMAL", "finish a run in");
}

Predecessor SqliteStore::discard_unfinished(const std::string& scenario_hash, std::uint64_t seed) {
  constexpr const char* kAttempted = "discard unfinished runs in";
  const std::string unfinished =
      "FROM runs WHERE scenario_hash = ? AND seed = ? AND status IN ('running', 'partial')";
  const std::scoped_lock lock(mutex_);
  require_writable(kAttempted);
  const auto about = [&](const std::string& sql) {
    Statement statement(connection_, sql, kAttempted);
    statement.bind(1, scenario_hash).bind(2, static_cast<std::int64_t>(seed));
    return statement;
  };
  Transaction transaction(connection_, Transaction::Kind::kWrite, kAttempted);
  Predecessor found;
  Statement latest = about("SELECT uid " + unfinished + " ORDER BY id DESC LIMIT 1");
  if (latest.step()) found.uid = latest.column_text(0);
  latest.reset();
  Statement tags = about("SELECT DISTINCT tag FROM tags WHERE run_id IN (SELECT id " + unfinished +
                         ") ORDER BY tag");
  while (tags.step()) found.tags.push_back(tags.column_text(0));
  about("DELETE " + unfinished).run();
  transaction.commit();
  return found;
}

void SqliteStore::put_checkpoint(RunId run, const CheckpointRow& checkpoint) {
  const std::scoped_lock lock(mutex_);
  require_writable("note a checkpoint in");
  Transaction transaction(connection_, Transaction::Kind::kWrite, "note a checkpoint in");
  require_run(run, "note a checkpoint of");
  Statement insert(connection_, "INSERT OR REPLACE INTO checkpoints VALUES (?,?,?,?,?)",
                   "note a checkpoint of run " + std::to_string(run) + " in");
  insert.bind(1, run).bind(2, checkpoint.steps).bind(3, checkpoint.folder);
  insert.bind(4, checkpoint.bytes).bind(5, now_utc()).run();
  transaction.commit();
}

void SqliteStore::remove_checkpoint(RunId run) {
  const std::scoped_lock lock(mutex_);
  require_writable("forget a checkpoint in");
  Statement statement(connection_, "DELETE FROM checkpoints WHERE run_id = ?",
                      "forget a checkpoint in");
  statement.bind(1, run).run();
}

void SqliteStore::tag(RunId run, const std::string& tag, bool add) {
  const std::scoped_lock lock(mutex_);
  require_writable("tag runs in");
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorKind::kUsage, "tag", subject_of(run), reason);
  };
  if (tag.empty() || tag.find(',') != std::string::npos)
    refuse("a tag is a text without commas, and not empty");
  if (add && (!is_utf8(tag) || has_control(tag)))
    refuse("a tag is a text of UTF-8 without control characters, not " + printable(tag));
  if (add && tag.find_first_not_of("0123456789") == std::string::npos)
    refuse("a number names a run by itself, and is no tag");
  Transaction transaction(connection_, Transaction::Kind::kWrite, "tag runs in");
  require_run(run, "tag");
  Statement statement(connection_,
                      add ? "INSERT OR IGNORE INTO tags (run_id, tag) VALUES (?,?)"
                          : "DELETE FROM tags WHERE run_id = ? AND tag = ?",
                      "tag runs in");
  statement.bind(1, run).bind(2, tag).run();
  transaction.commit();
}

void SqliteStore::remove_run(RunId run) {
  const std::scoped_lock lock(mutex_);
  require_writable("remove runs from");
  Statement statement(connection_, "DELETE FROM runs WHERE id = ?", "remove runs from");
  statement.bind(1, run).run();
  require_changed(run, "remove");
}

}  // namespace gradwire::results
