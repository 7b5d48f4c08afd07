#pragma once
#include <QString>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "gui/models/run_columns.h"
#include "results/store/store.h"

/// Which runs are shown and in which order: an immutable snapshot of the database, a filter, a sort
/// key, pinned runs and a baseline. No widget; 10,000 runs sort or filter in a few milliseconds.
namespace gradwire::gui {

using RunPredicate = std::function<bool(const results::RunSummary&)>;

class RunView {
 public:
  static constexpr std::size_t kMaxPins = 5;

  /// Keeps filter, sort, pins and baseline; forgets pins and baseline of runs that are gone. A
  /// predicate that reads columns is of the runs before: set it again.
  void set_runs(Snapshot runs);
  /// Free text: every word must occur (without regard to case) in some text column. Empty: all.
  void set_text_filter(const QString& words);
  void set_predicate(RunPredicate predicate);
  /// All runs pass, without sorting them now.
  void forget_filter();
  /// Raw values decide, absent ones come last in both directions, ties keep the order of ids.
  void sort(Column column, bool descending);

  /// Pins or unpins; false when kMaxPins are pinned already.
  bool toggle_pin(results::RunId id);
  void clear_pins();
  bool pinned(results::RunId id) const;
  void set_baseline(std::optional<results::RunId> id);
  const results::RunSummary* baseline() const;

  int rows() const { return static_cast<int>(order_.size()); }
  int total() const { return static_cast<int>(all().size()); }
  const results::RunSummary& at(int row) const {
    return runs_->runs[order_[static_cast<std::size_t>(row)]];
  }
  const results::RunSummary* find(results::RunId id) const;
  int row_of(results::RunId id) const;  ///< -1: not shown
  Column sort_column() const { return sort_column_; }
  bool descending() const { return descending_; }
  /// Every run of the database, shown or not.
  const std::vector<results::RunSummary>& all() const;
  const RunColumns& columns() const { return columns_; }
  /// What at() and all() are parts of.
  const Snapshot& snapshot() const { return runs_; }

  /// [columns().count()]: whether the shown runs differ in that column (true for the run number).
  std::vector<bool> differing_columns() const;

 private:
  void rebuild();
  void sort_order();
  void lift_pins();
  bool accepts(std::uint32_t index) const;
  /// Among all(); none where this database has no such run.
  std::optional<std::uint32_t> index_of(results::RunId id) const;

  Snapshot runs_;
  RunColumns columns_;
  std::vector<std::uint32_t> order_;
  std::vector<int> row_;  ///< by index among all(); -1: not shown
  std::vector<QString> words_;
  RunPredicate predicate_;
  Column sort_column_ = Column::kRun;
  bool descending_ = true;
  std::vector<results::RunId> pins_;
  std::optional<results::RunId> baseline_;
};

}  // namespace gradwire::gui
