#include "runner/run_words.h"

#include <algorithm>
#include <filesystem>

namespace gradwire::runner {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

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
