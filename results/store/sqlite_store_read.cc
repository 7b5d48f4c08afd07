#include "results/store/sqlite_store.h"

#include <algorithm>

#include "base/file_descriptor.h"
#include "results/store/timeline_blob.h"

/// The reading half of SqliteStore.
namespace gradwire::results {
namespace {

constexpr const char* kReadRuns = "read the runs of";

constexpr const char* kRunColumns =
    "SELECT r.id, r.scenario_hash, s.json, s.name, s.file, r.seed, r.method, r.executor, r.model, "
    "r.data_set, r.workers, r.host, r.version, r.device, r.compute_provenance, r.status, "
    "r.started_at, r.ended_at, r.error, r.steps_done, r.steps_total, r.simulated_s, r.final_loss, "
    "r.final_accuracy, r.step_time_s, r.time_to_target_s, r.wire_bytes, r.learning_hash, "
    "r.timeline_hash, r.compression_ratio, r.traffic_ratio, r.uid, r.node, r.rank, r.detail "
    "FROM runs r JOIN scenarios s ON s.id = r.scenario_id ";

RunHeader header_from(const Statement& row) {
  RunHeader header;
  header.scenario_hash = row.column_text(1);
  header.scenario_json = row.column_text(2);
  header.scenario_name = row.column_text(3);
  header.scenario_file = row.column_text(4);
  header.seed = static_cast<std::uint64_t>(row.column_integer(5));
  header.method = row.column_text(6);
  header.executor = row.column_text(7);
  header.model = row.column_text(8);
  header.data_set = row.column_text(9);
  header.workers = static_cast<int>(row.column_integer(10));
  header.host = row.column_text(11);
  header.version = row.column_text(12);
  header.device = row.column_text(13);
  header.compute_provenance = row.column_text(14);
  header.uid = row.column_text(31);
  header.node = row.column_text(32);
  if (row.column_optional(33)) header.rank = static_cast<int>(row.column_integer(33));
  header.detail = row.column_text(34);
  return header;
}

RunSummary summary_from(const Statement& row) {
  RunSummary run;
  run.id = row.column_integer(0);
  run.header = header_from(row);
  run.status = run_status(row.column_text(15));
  run.started_at = row.column_text(16);
  run.ended_at = row.column_text(17);
  run.error = row.column_text(18);
  run.steps_done = row.column_integer(19);
  run.steps_total = row.column_integer(20);
  run.simulated_s = row.column_number(21);
  run.final_loss = row.column_optional(22);
  run.final_accuracy = row.column_optional(23);
  run.step_time_s = row.column_optional(24);
  run.time_to_target_s = row.column_optional(25);
  run.wire_bytes = row.column_optional(26);
  run.learning_hash = row.column_text(27);
  run.timeline_hash = row.column_text(28);
  run.compression_ratio = row.column_optional(29);
  run.traffic_ratio = row.column_optional(30);
  return run;
}

}  // namespace

std::vector<RunSummary> SqliteStore::read_runs(const std::string& where) const {
  std::vector<RunSummary> runs;
  Transaction transaction(connection_, Transaction::Kind::kRead, kReadRuns);
  Statement rows(connection_, kRunColumns + where + " ORDER BY r.id", kReadRuns);
  while (rows.step()) runs.push_back(summary_from(rows));
  std::size_t at = 0;
  Statement tags(connection_, "SELECT run_id, tag FROM tags ORDER BY run_id, tag", kReadRuns);
  while (tags.step()) {
    const RunId id = tags.column_integer(0);
    while (at < runs.size() && runs[at].id < id) ++at;
    if (at < runs.size() && runs[at].id == id) runs[at].tags.push_back(tags.column_text(1));
  }
  return runs;
}

std::vector<RunSummary> SqliteStore::runs() const {
  const std::scoped_lock lock(mutex_);
  return read_runs("");
}

std::optional<RunSummary> SqliteStore::run(RunId id) const {
  const std::scoped_lock lock(mutex_);
  std::vector<RunSummary> runs = read_runs("WHERE r.id = " + std::to_string(id));
  if (runs.empty()) return std::nullopt;
  return std::move(runs.front());
}

std::optional<RunId> SqliteStore::find_ended(const std::string& scenario_hash,
                                             std::uint64_t seed) const {
  const std::scoped_lock lock(mutex_);
  Statement rows(connection_,
                 "SELECT id FROM runs WHERE scenario_hash = ? AND seed = ? AND status IN "
                 "('finished', 'diverged') AND detail <> 'mixed' ORDER BY id DESC LIMIT 1",
                 kReadRuns);
  rows.bind(1, scenario_hash).bind(2, static_cast<std::int64_t>(seed));
  if (!rows.step()) return std::nullopt;
  return rows.column_integer(0);
}

std::optional<CheckpointRow> SqliteStore::checkpoint(RunId run) const {
  const std::scoped_lock lock(mutex_);
  Statement rows(connection_,
                 "SELECT steps, folder, bytes, saved_at FROM checkpoints WHERE run_id = ?",
                 "read the checkpoint of");
  rows.bind(1, run);
  if (!rows.step()) return std::nullopt;
  return CheckpointRow{rows.column_integer(0), rows.column_text(1), rows.column_integer(2),
                       rows.column_text(3)};
}

std::vector<StepRow> SqliteStore::steps(RunId run) const {
  const std::scoped_lock lock(mutex_);
  Statement rows(
      connection_,
      "SELECT step, loss, start_s, end_s, payload_bytes, wire_bytes, retransmissions, "
      "compute_s, codec_s, exposed_s, exposed_codec_s FROM steps WHERE run_id = ? ORDER BY step",
      "read the steps of");
  rows.bind(1, run);
  std::vector<StepRow> steps;
  while (rows.step()) {
    StepRow& step = steps.emplace_back();
    step.step = rows.column_integer(0);
    step.loss = rows.column_number(1);
    step.start_s = rows.column_number(2);
    step.end_s = rows.column_number(3);
    step.payload_bytes = rows.column_integer(4);
    step.wire_bytes = rows.column_integer(5);
    step.retransmissions = rows.column_integer(6);
    step.compute_s = rows.column_number(7);
    step.codec_s = rows.column_number(8);
    step.exposed_s = rows.column_number(9);
    step.exposed_codec_s = rows.column_number(10);
  }
  return steps;
}

std::vector<MetricRow> SqliteStore::metrics(RunId run) const {
  const std::scoped_lock lock(mutex_);
  Statement rows(connection_,
                 "SELECT step, name, value, unit, provenance FROM metrics WHERE run_id = ? "
                 "ORDER BY step, name",
                 "read the metrics of");
  rows.bind(1, run);
  std::vector<MetricRow> metrics;
  while (rows.step()) {
    MetricRow& metric = metrics.emplace_back();
    metric.step = rows.column_integer(0);
    metric.name = rows.column_text(1);
    metric.value = rows.column_number(2);
    metric.unit = rows.column_text(3);
    metric.provenance = provenance_of(rows.column_text(4));
  }
  return metrics;
}

std::vector<TimelineSegment> SqliteStore::timeline(RunId run) const {
  std::vector<TimelineSegment> all = segments(run);
  std::erase_if(all, [](const auto& each) { return each.lane == kCriticalLane; });
  return all;
}

std::vector<TimelineSegment> SqliteStore::critical_path(RunId run) const {
  std::vector<TimelineSegment> all = segments(run);
  std::erase_if(all, [](const auto& each) { return each.lane != kCriticalLane; });
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.start_s < b.start_s; });
  return all;
}

std::vector<LinkSeries> SqliteStore::links(RunId run) const {
  const std::scoped_lock lock(mutex_);
  // A reader may meet a database of version 1.
  const char* known = "SELECT count(*) FROM sqlite_schema WHERE name = 'links'";
  if (connection_.scalar(known, "read link series of") == 0) return {};
  Statement rows(connection_,
                 "SELECT channel, name, rate_bps, data FROM links WHERE run_id = ? ORDER BY place",
                 "read link series of");
  rows.bind(1, run);
  std::vector<LinkSeries> links;
  std::vector<TimelineSegment> packed;
  while (rows.step()) {
    LinkSeries link{static_cast<std::int32_t>(rows.column_integer(0)),
                    rows.column_text(1),
                    rows.column_number(2),
                    {}};
    packed.clear();
    unpack_timeline(rows.column_blob(3), 0, subject_of(run), packed);
    for (const TimelineSegment& each : packed)
      link.intervals.push_back({each.start_s, each.end_s, each.bytes});
    links.push_back(std::move(link));
  }
  return links;
}

std::vector<TimelineSegment> SqliteStore::segments(RunId run) const {
  const std::scoped_lock lock(mutex_);
  Statement rows(connection_, "SELECT step, data FROM timelines WHERE run_id = ? ORDER BY step",
                 "read a timeline of");
  rows.bind(1, run);
  std::vector<TimelineSegment> segments;
  while (rows.step())
    unpack_timeline(rows.column_blob(1), rows.column_integer(0), subject_of(run), segments);
  return segments;
}

std::string SqliteStore::timeline_provenance(RunId run) const {
  const std::scoped_lock lock(mutex_);
  Statement rows(connection_,
                 "SELECT provenance FROM timelines WHERE run_id = ? ORDER BY step LIMIT 1",
                 "read a timeline of");
  rows.bind(1, run);
  return rows.step() ? rows.column_text(0) : std::string();
}

std::int64_t SqliteStore::data_version() const {
  const std::scoped_lock lock(mutex_);
  // The pragma counts other connections' commits, total_changes our own; both only grow.
  return connection_.scalar("PRAGMA data_version", kReadRuns) + connection_.total_changes();
}

/// Not by SQLite, whose locks a network's file system may lack.
void SqliteStore::copy_to(const std::string& path) const {
  const std::scoped_lock lock(mutex_);
  write_file(path, connection_.bytes("copy a database to " + path + " from"));
}

std::string SqliteStore::integrity() const {
  const std::scoped_lock lock(mutex_);
  constexpr const char* attempted = "check the integrity of";
  std::string words;
  try {
    Statement check(connection_, "PRAGMA integrity_check(10)", attempted);
    while (check.step()) words += (words.empty() ? "" : "; ") + check.column_text(0);
    Statement keys(connection_, "PRAGMA foreign_key_check", attempted);
    while (keys.step())
      words +=
          "; a row of " + keys.column_text(0) + " names a missing row of " + keys.column_text(2);
  } catch (const StoreError& error) {
    return error.what();  // too damaged to check is an answer, not a failure of the check
  }
  return words;
}

}  // namespace gradwire::results
