#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "results/store/sqlite.h"
#include "results/store/store.h"

namespace gradwire::results {

/// The Store on SQLite. Each public call is one short transaction under the mutex.
class SqliteStore final : public Store {
 public:
  SqliteStore(Connection connection, bool writable)
      : connection_(std::move(connection)), writable_(writable) {}

  RunId begin_run(const RunHeader& header, std::int64_t steps_total) override;
  void append(RunId run, std::span<const StepRow> steps,
              std::span<const MetricRow> metrics) override;
  void put_timeline(RunId run, std::string_view provenance,
                    std::span<const TimelineSegment> segments) override;
  void put_links(RunId run, std::span<const LinkSeries> links) override;
  void finish_run(RunId run, RunStatus status, const std::string& error,
                  const std::string& learning_hash, const std::string& timeline_hash,
                  std::span<const MetricRow> finals) override;
  Predecessor discard_unfinished(const std::string& scenario_hash, std::uint64_t seed) override;
  std::optional<RunId> find_ended(const std::string& scenario_hash,
                                  std::uint64_t seed) const override;
  void put_checkpoint(RunId run, const CheckpointRow& checkpoint) override;
  void remove_checkpoint(RunId run) override;
  void set_detail(RunId run, const std::string& detail) override;
  void tag(RunId run, const std::string& tag, bool add) override;
  void remove_run(RunId run) override;
  MergeResult merge(const std::string& source, const MergeOptions& options) override;

  std::vector<RunSummary> runs() const override;
  std::optional<RunSummary> run(RunId id) const override;
  std::vector<StepRow> steps(RunId run) const override;
  std::vector<MetricRow> metrics(RunId run) const override;
  std::optional<CheckpointRow> checkpoint(RunId run) const override;
  std::vector<TimelineSegment> timeline(RunId run) const override;
  std::vector<TimelineSegment> critical_path(RunId run) const override;
  std::vector<LinkSeries> links(RunId run) const override;
  std::string timeline_provenance(RunId run) const override;
  std::int64_t data_version() const override;
  std::string integrity() const override;
  void copy_to(const std::string& path) const override;

 private:
  void require_writable(std::string_view attempted) const;
  /// Throws unless the latest statement changed a row of the runs table.
  void require_changed(RunId run, std::string_view attempted) const;
  void require_run(RunId run, std::string_view attempted) const;
  [[noreturn]] void no_such_run(RunId run, std::string_view attempted) const;
  RunId insert_run(const RunHeader& header, std::int64_t steps_total, std::int64_t scenario);
  std::int64_t scenario_id(const RunHeader& header);
  void insert_steps(RunId run, std::span<const StepRow> steps);
  void insert_metrics(RunId run, std::span<const MetricRow> metrics);
  std::vector<RunSummary> read_runs(const std::string& where) const;
  std::vector<TimelineSegment> segments(RunId run) const;
  std::string subject_of(RunId run) const;

  Connection connection_;
  bool writable_;
  mutable std::mutex mutex_;
};

}  // namespace gradwire::results
