#include "results/report/first_screen.h"

#include <algorithm>

#include "results/report/forms.h"

namespace gradwire::results {
namespace {

std::string runs_of(const WorkloadRuns& workload) {
  return std::to_string(workload.runs.size()) + (workload.runs.size() == 1 ? " run" : " runs");
}

}  // namespace

PlannerPart planner_part(const WorkloadRuns& workload, const ReportData& data,
                         std::size_t workloads) {
  return {workload.name, "", runs_of(workload),
          planner_lines(data, std::max<std::size_t>(3, 8 / workloads))};
}

std::string unfinished_words(const WorkloadRuns& workload) {
  return workload.name + ": " + runs_of(workload) + ", none of which has finished";
}

FirstScreen first_screen(const Store& store, std::span<const RunId> runs,
                         const ReportOptions& options) {
  const std::vector<WorkloadRuns> workloads = workloads_of(store, runs);
  const AccuracyKnowledge knowledge = knowledge_of(store, options);
  FirstScreen screen;
  for (const WorkloadRuns& workload : workloads) {
    if (!workload.finished) {
      screen.unfinished.push_back(unfinished_words(workload));
      continue;
    }
    const ReportData data = data_of(store, workload.runs, knowledge, options);
    screen.parts.push_back(planner_part(workload, data, workloads.size()));
  }
  return screen;
}

}  // namespace gradwire::results
