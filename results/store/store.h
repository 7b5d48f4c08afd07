#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"

/// The results database (SQLite, WAL, foreign keys, schema version with migrations). One writer,
/// many readers; docs/database.md documents the tables for people's own SQL.
namespace gradwire::results {

class StoreError : public Error {
 public:
  StoreError(std::string_view attempted, std::string_view subject, std::string_view reason,
             std::string_view remedy = {})
      : Error(ErrorKind::kStore, attempted, subject, reason, remedy) {}
};

using RunId = std::int64_t;

/// Diverged: training stopped at a loss that is not finite, which is what comes of it. Invalid: all
/// steps were made, but what was emulated was not the scenario's network, as `error` says; it
/// counts nowhere.
enum class RunStatus { kRunning, kFinished, kPartial, kFailed, kDiverged, kInvalid };
std::string_view name_of(RunStatus status);
/// Nothing of such a run is left to do: it finished or diverged.
constexpr bool has_ended(RunStatus status) {
  return status == RunStatus::kFinished || status == RunStatus::kDiverged;
}
/// Throws StoreError for a name that is none.
RunStatus run_status(std::string_view name);

/// Where a figure comes from. Given: the scenario says it, or it follows from what it says by
/// arithmetic alone. Partly emulated: without something that the scenario's network has, which a
/// note of the run names (results/runs/notes.h).
enum class Provenance {
  kMeasured,
  kSimulated,
  kEmulated,
  kPredicted,
  kPublished,
  kAssumed,
  kGiven,
  kPartlyEmulated
};
std::string_view name_of(Provenance provenance);
Provenance provenance_of(std::string_view name);

/// What a run is, known when it starts.
struct RunHeader {
  std::string scenario_hash;  ///< of the resolved scenario, without seed
  std::string scenario_json;  ///< resolved, canonical
  std::string scenario_name;
  std::string scenario_file;
  std::uint64_t seed = 0;
  std::string method;  ///< label: codec and what distinguishes it ("topk 1% ef")
  std::string executor;
  std::string model;
  std::string data_set;
  int workers = 0;
  std::string host;                ///< machine name, CPU model
  std::string version;             ///< program version and commit
  std::string device;              ///< where compute times come from
  std::string compute_provenance;  ///< measured / profile
  /// The run's identity, the same in every database that it is merged into (32 hexadecimal digits).
  /// Empty: begin_run draws one. A run that takes an unfinished one's place keeps its identity.
  std::string uid = {};
  std::string node = {};         ///< name of the machine
  std::optional<int> rank = {};  ///< of the process that ran it, where several shared a sweep
  std::string detail = {};       ///< of `flow`: per-packet or fluid; mixed: of earlier versions
};

struct StepRow {
  std::int64_t step = 0;
  double loss = 0;
  double start_s = 0;  ///< virtual time at which the step's first operation started
  double end_s = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t wire_bytes = 0;
  std::int64_t retransmissions = 0;
  // Means over workers (results/runs/exposed.h).
  double compute_s = 0;  ///< forward, backward, update
  double codec_s = 0;    ///< encode, decode, aggregate; it may run beside compute
  double exposed_s = 0;  ///< exposed communication: under way while neither of these ran
  /// Of codec_s, the time beside which nothing was computed; NaN = not stored.
  double exposed_codec_s = std::numeric_limits<double>::quiet_NaN();
};

/// A named figure of a run at a step (-1 = of the whole run).
struct MetricRow {
  std::int64_t step = -1;
  std::string name;  ///< such as accuracy, held_out_loss, final_accuracy, step_time_s
  double value = 0;
  std::string unit;
  Provenance provenance = Provenance::kSimulated;
};

/// Lanes of segments beyond sim::Lane.
inline constexpr std::uint8_t kTransferLane = 255;
inline constexpr std::uint8_t kCriticalLane = 254;  ///< pieces of the critical path

/// One drawn segment of a timeline (compact: operations, not packets).
struct TimelineSegment {
  std::int64_t step = 0;
  std::int32_t worker = 0;
  std::uint8_t lane = 0;  ///< sim::Lane; transfers: 255
  std::string label;
  double start_s = 0;
  double end_s = 0;
  std::int64_t bytes = 0;
};

/// A checkpoint of a run, whose data lie in a folder beside the database.
struct CheckpointRow {
  std::int64_t steps = 0;  ///< done when it was made
  std::string folder;
  std::int64_t bytes = 0;  ///< of its files
  std::string saved_at;    ///< UTC, ISO 8601; set by the store
};

/// What a run keeps of unfinished ones whose place it takes.
struct Predecessor {
  std::string uid;  ///< of the latest; empty where there was none
  std::vector<std::string> tags;
};

/// What came of the runs of another database, in numbers of runs.
struct MergeCounts {
  std::int64_t added = 0;
  std::int64_t replaced = 0;  ///< were unfinished here, and had come further there
  std::int64_t present = 0;   ///< were here already
  std::int64_t running = 0;   ///< are still running there, and were left out
  std::int64_t partial =
      0;  ///< of those added and replaced: `run --resume` there goes on from them
};

struct MergeOptions {
  /// Runs of the source to merge, in this order; none = all, by their numbers.
  std::optional<std::vector<RunId>> runs = {};
  /// This program wrote the file and nobody has it open: it is not looked through for damage.
  bool trusted = false;
};

struct MergeResult {
  MergeCounts counts;
  std::vector<RunId> runs;  ///< here, for each run of the source that was asked for; 0 = left out
};

/// What one direction of a link carried over a run.
struct LinkSeries {
  std::int32_t channel = 0;  ///< sim::ChannelId
  std::string name;          ///< "worker0 -> switch"
  double rate_bps = 0;       ///< nominal
  struct Interval {
    double start_s = 0;
    double end_s = 0;
    std::int64_t wire_bytes = 0;
  };
  std::vector<Interval> intervals;  ///< one after the other

  /// Share of the nominal rate.
  double utilisation(const Interval& interval) const {
    const double room = rate_bps / 8 * (interval.end_s - interval.start_s);
    return room > 0 ? static_cast<double>(interval.wire_bytes) / room : 0;
  }
};

/// The optional figures are the metrics of the same name that finish_run was given: final_loss
/// (mean training loss of the last step), final_accuracy (share of held-out samples right),
/// step_time_s (mean), compression_ratio (what a worker encodes of its gradients over the bytes of
/// their fp32 values), traffic_ratio (bytes on the wire over those that the same exchange of fp32
/// values puts there; 1 = uncompressed, 0.1 = a tenth), time_to_target_s (simulated time to the
/// target accuracy; absent = not reached), wire_bytes (of the whole run). Absent while the run is
/// running.
struct RunSummary {
  RunId id = 0;
  RunHeader header;
  RunStatus status = RunStatus::kRunning;
  std::string started_at, ended_at;  ///< UTC, ISO 8601
  std::string error;
  std::vector<std::string> tags;
  std::int64_t steps_done = 0, steps_total = 0;
  double simulated_s = 0;
  std::optional<double> final_loss, final_accuracy, step_time_s, time_to_target_s;
  std::optional<double> compression_ratio, traffic_ratio, wire_bytes;
  std::string learning_hash, timeline_hash;
};

struct StoreOptions {
  int busy_timeout_ms = 5000;  ///< how long a writer waits for another one before "locked"
  std::int64_t max_bytes = 0;  ///< the file may not grow beyond; 0 = no limit but the disk's
};

/// Opens (and, for a writer, creates or migrates) a database. Throws StoreError: locked, read-only,
/// newer schema, damaged, full disk. After a throw all that was stored before is kept, and the
/// failed call has stored nothing. A Store may be used from several threads: calls are serialised.
/// A value that is not a number (a loss that diverged) is stored as NULL and read back as NaN.
class Store {
 public:
  enum class Mode { kReadOnly, kReadWrite };
  static std::unique_ptr<Store> open(const std::string& path, Mode mode,
                                     const StoreOptions& options = {});
  /// An empty one that lives as long as the object, in memory.
  static std::unique_ptr<Store> in_memory();
  virtual ~Store() = default;

  // Writer. A run is `running` until finish_run flips its status in one transaction.
  virtual RunId begin_run(const RunHeader& header, std::int64_t steps_total) = 0;
  /// Of a run whose first exchange decides how finely it is simulated.
  virtual void set_detail(RunId run, const std::string& detail) = 0;
  /// Short transaction: all rows or none. A step may be given once; a metric given again at the
  /// same step replaces the earlier one.
  virtual void append(RunId run, std::span<const StepRow> steps,
                      std::span<const MetricRow> metrics) = 0;
  /// Replaces the timelines of the steps that occur in `segments`. Times are kept to 1 ps.
  virtual void put_timeline(RunId run, std::string_view provenance,
                            std::span<const TimelineSegment> segments) = 0;
  /// Replaces the series of the channels that occur in `links`.
  virtual void put_links(RunId run, std::span<const LinkSeries> links) = 0;
  virtual void finish_run(RunId run, RunStatus status, const std::string& error,
                          const std::string& learning_hash, const std::string& timeline_hash,
                          std::span<const MetricRow> finals) = 0;
  /// Removes runs of this scenario hash and seed that are running or partial (for --resume): what
  /// the run that takes their place keeps of them.
  virtual Predecessor discard_unfinished(const std::string& scenario_hash, std::uint64_t seed) = 0;
  /// The latest run of this scenario hash and seed that finished or diverged; none of those in the
  /// mixed detail of earlier versions.
  virtual std::optional<RunId> find_ended(const std::string& scenario_hash,
                                          std::uint64_t seed) const = 0;
  /// Where an unfinished run can go on from; replaces what was said of it before.
  virtual void put_checkpoint(RunId run, const CheckpointRow& checkpoint) = 0;
  virtual void remove_checkpoint(RunId run) = 0;
  virtual void tag(RunId run, const std::string& tag, bool add) = 0;
  virtual void remove_run(RunId run) = 0;
  /// Puts the runs of another database into this one with all their rows but those of checkpoints,
  /// in one transaction. Merging again adds nothing: a run is known by its identity. One that is
  /// unfinished here and has come further there is replaced and keeps its number and tags. The
  /// source is only read; where it is of an older schema, a copy of it is. Throws StoreError:
  /// missing, this database itself, damaged, newer, no database of ours.
  virtual MergeResult merge(const std::string& source, const MergeOptions& options = {}) = 0;

  // Reader. In ascending order of id, of step, and of (step, name).
  virtual std::vector<RunSummary> runs() const = 0;
  virtual std::optional<RunSummary> run(RunId id) const = 0;
  virtual std::vector<StepRow> steps(RunId run) const = 0;
  virtual std::vector<MetricRow> metrics(RunId run) const = 0;
  virtual std::optional<CheckpointRow> checkpoint(RunId run) const = 0;
  /// All but the critical path.
  virtual std::vector<TimelineSegment> timeline(RunId run) const = 0;
  /// Its pieces in order of time, each with its host as `worker`; empty where none was kept.
  virtual std::vector<TimelineSegment> critical_path(RunId run) const = 0;
  /// The busiest first; empty where none were kept.
  virtual std::vector<LinkSeries> links(RunId run) const = 0;
  /// Empty where the run has no timeline.
  virtual std::string timeline_provenance(RunId run) const = 0;
  /// Changes whenever anything was written (for "new runs available").
  virtual std::int64_t data_version() const = 0;
  /// "ok" or SQLite's own words.
  virtual std::string integrity() const = 0;
  /// Writes all of it as one file, over one of that name: it stands there whole or not at all.
  virtual void copy_to(const std::string& path) const = 0;
};

}  // namespace gradwire::results
