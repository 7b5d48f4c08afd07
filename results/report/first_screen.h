#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/report/planner.h"
#include "results/report/report.h"
#include "results/report/workloads.h"

/// What a report says first, for the page and for the desktop program.
namespace gradwire::results {

/// One workload's lines, on a screen of so many workloads: the more there are, the fewer each has.
PlannerPart planner_part(const WorkloadRuns& workload, const ReportData& data,
                         std::size_t workloads);

/// "sweep: 12 runs, none of which has finished"
std::string unfinished_words(const WorkloadRuns& workload);

struct FirstScreen {
  std::vector<PlannerPart> parts;
  std::vector<std::string> unfinished;  ///< sentences about workloads without a finished run
};

/// Throws StoreError for unknown runs.
FirstScreen first_screen(const Store& store, std::span<const RunId> runs,
                         const ReportOptions& options = {});

}  // namespace gradwire::results
