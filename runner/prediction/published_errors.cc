#include "runner/prediction/published_errors.h"

#include "base/file_descriptor.h"
#include "scenarios/kernels/model_family.h"
#include "scenarios/profiles/profile.h"
#include "scenarios/share.h"

namespace gradwire::runner {

results::PredictionQuestion prediction_question(const scenarios::Scenario& scenario) {
  const std::string& table = scenario.workload.profile;
  const std::string& device = scenario.cluster.device;
  if (table.empty() || device == "cpu" || device == "cuda") return {};
  const auto profile = scenarios::load_device_profile(device, scenario.file);
  const auto layers = scenarios::load_workload_profile(table, scenario.file);
  if (!profile.kernels || layers.layers.empty() || layers.layers.front().has_times) return {};
  return {layers.origin.name, scenarios::family_of(layers), profile.origin.name,
          scenario.workload.precision, scenario.cluster.workers};
}

std::vector<results::PublishedErrors> published_errors(
    const results::PredictionQuestion& question) {
  if (question.device.empty()) return {};
  const std::string path = scenarios::share_folder() + "/published/prediction-errors.csv";
  return results::nearest_published(results::read_published_errors(read_file(path), path),
                                    question);
}

}  // namespace gradwire::runner
