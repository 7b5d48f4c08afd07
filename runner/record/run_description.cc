#include "runner/record/run_description.h"

#include <filesystem>

namespace gradwire::runner {
namespace {

/// The name, with the widths that a scenario gives: "mlp 64-64".
std::string trained_model(const scenarios::Workload& workload) {
  std::string widths;
  for (const std::int64_t width : workload.hidden.value_or(std::vector<std::int64_t>{}))
    widths += (widths.empty() ? " " : "-") + std::to_string(width);
  return workload.model + widths;
}

}  // namespace

std::string model_label(const scenarios::Workload& workload) {
  switch (workload.kind) {
    case scenarios::WorkloadKind::kTraining:
      return trained_model(workload);
    case scenarios::WorkloadKind::kProfile:  // a shipped name, or a file's name
      return std::filesystem::path(workload.profile).stem().string();
    case scenarios::WorkloadKind::kPipeline:
      return "pipeline " + workload.pipeline.schedule;
    case scenarios::WorkloadKind::kFederated:
      return "federated round";
    case scenarios::WorkloadKind::kRecording:
      return std::filesystem::path(workload.recording).stem().string();
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
