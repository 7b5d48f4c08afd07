#pragma once
#include <string>
#include <vector>

#include "results/store/sqlite.h"
#include "results/store/store.h"

namespace gradwire::results {

/// Copies the rows of one table that belong to a run, column by column as they are stored.
class RowCopier {
 public:
  RowCopier(const Connection& from, const Connection& to, const std::string& table);
  /// Rows of `run` there become rows of `as` here, which has none.
  void copy(RunId run, RunId as);

 private:
  int columns_;
  Statement select_, insert_;
};

/// Copies runs from a database into another of the same schema, which both must be in a
/// transaction. All of their rows but those of checkpoints, whose folders lie beside the source.
class RunCopier {
 public:
  RunCopier(const Connection& from, const Connection& to);
  /// The run's number here: `as`, or the next one where that is 0.
  RunId copy(RunId run, RunId as);

 private:
  std::int64_t copy_scenario(RunId run);

  const Connection& to_;
  std::string run_columns_;
  int run_column_count_;
  Statement select_run_, insert_run_, select_scenario_, insert_scenario_, find_scenario_;
  std::vector<RowCopier> rows_;
};

}  // namespace gradwire::results
