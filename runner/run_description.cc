#include "runner/run_description.h"

#include <filesystem>

namespace gradwire::runner {

std::string model_label(const scenarios::Workload& workload) {
  switch (workload.kind) {
    case scenarios::WorkloadKind::kTraining:
      return workload.model;
    case scenarios::WorkloadKind::kProfile:  // a shipped name, or a file's name
      return std::filesystem::path(workload.profile).stem().string();
    case scenarios::WorkloadKind::kPipeline:
      return "pipeline " + workload.pipeline.schedule;
    case scenarios::WorkloadKind::kFederated:
      return "federated round";
    default:
      return workload.collective;
  }
}

std::string gone_workers(const scenarios::Scenario& scenario, Seconds time) {
  std::string text;
  for (const auto& absence : scenario.cluster.absences)
    if (absence.time.end >= sim::kNeverReturns && absence.time.begin <= time)
      text += "; worker " + std::to_string(absence.worker) + " is away from " +
              format_duration(absence.time.begin) + " on and never returns";
  return text;
}

}  // namespace gradwire::runner
