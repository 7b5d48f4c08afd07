#pragma once
#include "gui/models/columns.h"
#include "gui/models/run_set.h"
#include "results/runs/query.h"

namespace gradwire::gui {

/// The columns of one set of runs: those of columns.h, then its swept fields. A Column of kColumns
/// + i is swept field i. Runs that are passed must be of the set.
class RunColumns {
 public:
  RunColumns() = default;
  explicit RunColumns(Snapshot runs) : runs_(std::move(runs)) {}

  int count() const { return kColumns + (runs_ ? static_cast<int>(runs_->swept.size()) : 0); }
  /// Null for the columns that every database has.
  const SweptColumn* swept(Column column) const;
  std::optional<Column> swept_at(const std::string& pointer) const;

  QString title(Column column) const;
  QString key(Column column) const;  ///< name in filter expressions and exports
  QString help(Column column) const;
  Quantity quantity(Column column) const;
  bool is_number(Column column) const { return quantity(column) != Quantity::kText; }

  std::optional<double> number(const results::RunSummary& run, Column column) const;
  QString raw_text(const results::RunSummary& run, Column column) const;
  QString shown_text(const results::RunSummary& run, Column column, NumberStyle style) const;
  QString full_text(const results::RunSummary& run, Column column) const;
  QString delta_text(const results::RunSummary& run, const results::RunSummary& baseline,
                     Column column) const;

  /// What filters call the columns: titles as shown, and pointers, without reading a scenario.
  std::vector<results::QueryName> query_names() const;

 private:
  std::size_t scenario_of(const results::RunSummary& run) const;

  Snapshot runs_;
};

}  // namespace gradwire::gui
