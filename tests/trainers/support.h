#pragma once
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/temporary_file.h"
#include "scenarios/trainer.h"
#include "tests/quantities.h"

namespace gradwire::trainers {

/// A small training run on the digits; tests change what they are about.
inline scenarios::Scenario digits_scenario(const std::string& model = "mlp",
                                           const std::string& method = "none") {
  scenarios::Scenario scenario;
  scenario.name = "test";
  scenario.workload.model = model;
  scenario.workload.data_set = "digits";
  scenario.workload.batch_per_worker = 16;
  scenario.workload.steps = 150;
  scenario.workload.learning_rate = 0.05;
  scenario.workload.momentum = 0.9;
  scenario.method.name = method;
  scenario.cluster.workers = 4;
  scenario.seed = 1;
  return scenario;
}

/// Times that are not measured: hashes and bytes do not depend on them.
inline scenarios::ComputeProfile fixed_profile(const std::vector<std::int64_t>& bucket_elements) {
  scenarios::ComputeProfile profile;
  profile.provenance = "profile";
  profile.device = "test";
  profile.forward = Seconds(1e-3);
  profile.update = Seconds(1e-4);
  for (const std::int64_t elements : bucket_elements) {
    scenarios::ComputeProfile::Bucket bucket;
    bucket.elements = elements;
    bucket.backward = Seconds(1e-3);
    profile.buckets.push_back(bucket);
  }
  return profile;
}

}  // namespace gradwire::trainers
