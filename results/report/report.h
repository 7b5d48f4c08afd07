#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "results/advice/accuracy_evidence.h"
#include "results/advice/cost.h"
#include "results/store/store.h"

/// A report of runs as one self-contained HTML file: no script, no reference to anything outside,
/// light and dark by the reader's preference, printable.
namespace gradwire::results {

struct ReportOptions {
  std::string title;                     ///< empty = made from the scenario's name
  std::string summary;                   ///< a paragraph of the author's, under the title
  std::vector<std::string> assumptions;  ///< printed after those that follow from the runs
  /// What is published of methods' accuracy, and the tolerance; what the store's training runs say
  /// is added to it.
  AccuracyKnowledge accuracy;
  /// The prices that count, of those that the runs' scenarios give; empty = these.
  std::function<CostOptions(const CostOptions& of_runs)> prices;
};

/// The answer for a planner, what was asked, the answers in sentences, a table, figures,
/// assumptions, provenance. Runs are grouped over seeds; what differs beside the method (bandwidth,
/// workers, loss) becomes sections. Runs of several workloads (workloads.h) are no alternatives: a
/// table of their answers, then a report of each.
/// Unfinished runs are counted and left out. Throws StoreError for unknown runs and where no run is
/// finished.
std::string report_html(const Store& store, std::span<const RunId> runs,
                        const ReportOptions& options = {});

/// The same, written to `path` (whole or not at all).
void write_report(const Store& store, std::span<const RunId> runs, const std::string& path,
                  const ReportOptions& options = {});

}  // namespace gradwire::results
