#include "results/store/schema.h"

#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "results/store/store.h"

namespace gradwire::results {
namespace {

constexpr const char* kVersion1 = R"sql(
CREATE TABLE scenarios (
  id     INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  hash   TEXT NOT NULL,
  name   TEXT NOT NULL,
  file   TEXT NOT NULL,
  json   TEXT NOT NULL
);
CREATE TABLE runs (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  scenario_id        INTEGER NOT NULL REFERENCES scenarios(id),
  scenario_hash      TEXT NOT NULL,
  seed               INTEGER NOT NULL,
  method             TEXT NOT NULL,
  executor           TEXT NOT NULL,
  model              TEXT NOT NULL,
  data_set           TEXT NOT NULL,
  workers            INTEGER NOT NULL,
  host               TEXT NOT NULL,
  version            TEXT NOT NULL,
  device             TEXT NOT NULL,
  compute_provenance TEXT NOT NULL,
  status             TEXT NOT NULL CHECK (status IN ('running','finished','partial','failed')),
  started_at         TEXT NOT NULL,
  ended_at           TEXT NOT NULL DEFAULT '',
  error              TEXT NOT NULL DEFAULT '',
  steps_done         INTEGER NOT NULL DEFAULT 0,
  steps_total        INTEGER NOT NULL,
  simulated_s        REAL NOT NULL DEFAULT 0,
  final_loss         REAL,
  final_accuracy     REAL,
  step_time_s        REAL,
  ratio              REAL,
  time_to_target_s   REAL,
  wire_bytes         REAL,
  learning_hash      TEXT NOT NULL DEFAULT '',
  timeline_hash      TEXT NOT NULL DEFAULT ''
);
CREATE INDEX runs_by_scenario ON runs (scenario_hash, seed, status);
CREATE INDEX runs_by_scenario_id ON runs (scenario_id);
CREATE TRIGGER scenarios_without_runs AFTER DELETE ON runs
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE scenario_id = OLD.scenario_id)
BEGIN DELETE FROM scenarios WHERE id = OLD.scenario_id; END;
CREATE TABLE steps (
  run_id          INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  step            INTEGER NOT NULL,
  loss            REAL,
  start_s         REAL NOT NULL,
  end_s           REAL NOT NULL,
  payload_bytes   INTEGER NOT NULL,
  wire_bytes      INTEGER NOT NULL,
  retransmissions INTEGER NOT NULL,
  compute_s       REAL NOT NULL,
  codec_s         REAL NOT NULL,
  exposed_s       REAL NOT NULL,
  PRIMARY KEY (run_id, step)
) WITHOUT ROWID;
CREATE TABLE metrics (
  run_id     INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  step       INTEGER NOT NULL,
  value      REAL,
  unit       TEXT NOT NULL,
  provenance TEXT NOT NULL,
  PRIMARY KEY (run_id, name, step)
) WITHOUT ROWID;
CREATE TABLE timelines (
  run_id     INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  step       INTEGER NOT NULL,
  provenance TEXT NOT NULL,
  segments   INTEGER NOT NULL,
  data       BLOB NOT NULL,
  PRIMARY KEY (run_id, step)
);
CREATE TABLE tags (
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  tag    TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) WITHOUT ROWID;
)sql";

constexpr const char* kVersion2 = R"sql(
CREATE TABLE links (
  run_id   INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  channel  INTEGER NOT NULL,
  place    INTEGER NOT NULL,
  name     TEXT NOT NULL,
  rate_bps REAL NOT NULL,
  data     BLOB NOT NULL,
  PRIMARY KEY (run_id, channel)
);
)sql";

/// What was "ratio" counted traffic, and is renamed; the old name stays as an alias. Labels of
/// figures that the scenario gives said "measured", or how times were got.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE runs RENAME COLUMN ratio TO traffic_ratio;
ALTER TABLE runs ADD COLUMN compression_ratio REAL;
ALTER TABLE runs ADD COLUMN ratio REAL GENERATED ALWAYS AS (traffic_ratio) VIRTUAL;
ALTER TABLE steps ADD COLUMN exposed_codec_s REAL;
UPDATE metrics SET name = 'traffic_ratio' WHERE name = 'ratio' AND step = -1;
UPDATE metrics SET provenance = 'given' WHERE name IN (
  'summary_workers', 'summary_group', 'summary_overlap', 'summary_buckets',
  'summary_compute_spread', 'summary_bandwidth_bytes_per_s',
  'summary_server_bandwidth_bytes_per_s', 'summary_delay_s', 'summary_forwarding_s',
  'summary_loss', 'summary_rate_spread')
  OR name GLOB 'summary_exchange_*';
UPDATE metrics SET provenance = 'simulated' WHERE name GLOB 'summary_correction_*';
)sql";

/// A status more, and where the checkpoints of runs lie. A table's CHECK cannot be altered; its
/// text is, as SQLite's documentation has it ("Making Other Kinds Of Table Schema Changes").
constexpr const char* kVersion4 = R"sql(
PRAGMA writable_schema=ON;
UPDATE sqlite_schema SET sql = replace(sql, '''partial'',''failed''',
                                       '''partial'',''failed'',''diverged''')
  WHERE type = 'table' AND name = 'runs';
CREATE TABLE checkpoints (
  run_id   INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
  steps    INTEGER NOT NULL,
  folder   TEXT NOT NULL,
  bytes    INTEGER NOT NULL,
  saved_at TEXT NOT NULL
);
PRAGMA writable_schema=RESET;
)sql";

/// Who made a run, and an identity that it keeps in whichever database it is merged into. Of older
/// runs it follows from what never changes of them, so that copies of one database agree. `rank` is
/// NULL where no others shared the sweep.
constexpr const char* kVersion5 = R"sql(
ALTER TABLE runs ADD COLUMN uid TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN node TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN rank INTEGER;
UPDATE runs SET uid = id || ' ' || (SELECT digest FROM scenarios WHERE id = scenario_id) || ' '
                      || seed || ' ' || started_at || ' ' || host || ' ' || version;
UPDATE runs SET uid = text_hash('1 ' || uid) || text_hash('2 ' || uid);
UPDATE runs SET node = substr(host, 1, instr(host, ', ') - 1) WHERE instr(host, ', ') > 0;
CREATE UNIQUE INDEX runs_by_uid ON runs (uid);
)sql";

/// A status more, in the way of version 4.
constexpr const char* kVersion6 = R"sql(
PRAGMA writable_schema=ON;
UPDATE sqlite_schema SET sql = replace(sql, '''failed'',''diverged''',
                                       '''failed'',''diverged'',''invalid''')
  WHERE type = 'table' AND name = 'runs';
PRAGMA writable_schema=RESET;
)sql";

/// How finely `flow` simulated a run, which views show, too.
constexpr const char* kVersion8 = R"sql(
DROP VIEW v_runs; DROP VIEW v_groups; DROP VIEW v_steps; DROP VIEW v_accuracy; DROP VIEW v_figures;
DROP VIEW v_notes; DROP VIEW v_updates; DROP VIEW v_links; DROP VIEW v_scenario;
ALTER TABLE runs ADD COLUMN detail TEXT NOT NULL DEFAULT '';
UPDATE runs SET detail = 'mixed' WHERE executor = 'flow';
)sql";

/// Views for people's own SQL (views.cc). A later version that changes a table drops them first and
/// makes them anew.
const Migration kMigrations[] = {{kVersion1}, {kVersion2}, {kVersion3}, {kVersion4}, {kVersion5},
                                 {kVersion6}, {kViews},    {kVersion8}, {kViews}};
constexpr const char* kAttempted = "open the results database";

/// What migrations call text_hash.
std::string text_hash(std::string_view text) {
  Hasher hasher;
  hasher.add_text(text);
  return hasher.hex();
}

}  // namespace

std::span<const Migration> migrations() {
  return kMigrations;
}
int schema_version() {
  return static_cast<int>(migrations().size());
}

namespace {

struct Marks {
  std::int64_t id = 0;
  std::int64_t version = 0;
  std::int64_t tables = 0;
};

/// All of one moment: another process may make the database meanwhile.
Marks marks_of(const Connection& connection) {
  const auto id = [&] { return connection.scalar("PRAGMA application_id", kAttempted); };
  for (Marks marks{.id = id()};;) {
    marks.version = connection.scalar("PRAGMA user_version", kAttempted);
    marks.tables = connection.scalar("SELECT count(*) FROM sqlite_schema", kAttempted);
    if (const std::int64_t now = id(); std::exchange(marks.id, now) == now) return marks;
  }
}

}  // namespace

int checked_version(const Connection& connection, int newest) {
  const auto [id, version, tables] = marks_of(connection);
  if (id != kApplicationId && (id != 0 || version != 0 || tables != 0))
    throw StoreError(kAttempted, connection.path(),
                     "it is a SQLite database, but not one of Gradwire",
                     "name a results database with --db");
  if (version > newest)
    throw StoreError(kAttempted, connection.path(),
                     "it was made by a newer Gradwire (schema version " + std::to_string(version) +
                         ", this program knows up to " + std::to_string(newest) + ")",
                     "update Gradwire, or use another database with --db");
  return static_cast<int>(version);
}

void migrate(const Connection& connection, std::span<const Migration> list) {
  const int newest = static_cast<int>(list.size());
  if (checked_version(connection, newest) == newest) return;
  connection.add_function("text_hash", text_hash);
  Transaction transaction(connection, Transaction::Kind::kWrite, kAttempted);
  // Another process may have migrated between the check and the lock.
  for (int version = checked_version(connection, newest); version < newest; ++version)
    connection.execute(list[static_cast<std::size_t>(version)].sql,
                       "bring to schema version " + std::to_string(version + 1));
  connection.execute("PRAGMA application_id=" + std::to_string(kApplicationId), kAttempted);
  connection.execute("PRAGMA user_version=" + std::to_string(newest), kAttempted);
  transaction.commit();
}

}  // namespace gradwire::results
