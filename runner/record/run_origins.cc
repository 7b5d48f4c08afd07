#include "runner/record/run_origins.h"

#include "scenarios/profiles/profile.h"

namespace gradwire::runner {
namespace {

using results::Provenance;
using scenarios::Scenario;
using scenarios::WorkloadKind;

/// Of a profile's `source`. What was computed from peak figures or counts is a prediction.
Provenance of_source(std::string_view source) {
  return source == "computed" ? Provenance::kPredicted : results::provenance_of(source);
}

bool is_profiled(const Scenario& scenario) {
  return scenario.cluster.device != "cpu" && scenario.cluster.device != "cuda";
}

Provenance of_device(const Scenario& scenario) {
  return of_source(
      scenarios::load_device_profile(scenario.cluster.device, scenario.file).origin.source);
}

Provenance of_layers(const Scenario& scenario) {
  return of_source(
      scenarios::load_workload_profile(scenario.workload.profile, scenario.file).origin.source);
}

}  // namespace

results::RunOrigins origins_of(const Scenario& scenario, const scenarios::ComputeProfile& profile,
                               std::string_view time) {
  results::RunOrigins origins;
  origins.time = results::provenance_of(time);
  switch (scenario.workload.kind) {
    case WorkloadKind::kTraining:
      if (is_profiled(scenario)) origins.compute = origins.codec = of_device(scenario);
      break;
    case WorkloadKind::kProfile:
      // Messages of a replay are sized by the codec's formula, or by drawn values.
      origins.payload = Provenance::kPredicted;
      origins.compute = is_profiled(scenario) ? of_device(scenario) : of_layers(scenario);
      if (is_profiled(scenario)) origins.codec = of_device(scenario);
      break;
    case WorkloadKind::kRecording:  // what a script's ranks told
      origins.payload = origins.codec = Provenance::kMeasured;
      origins.compute =
          scenario.workload.compute_scale == 1 ? Provenance::kMeasured : Provenance::kGiven;
      break;
    default:  // every size and time stands in the scenario
      origins.payload = origins.compute = origins.codec = Provenance::kGiven;
  }
  GRADWIRE_ASSERT(profile.provenance != "measured" || !is_profiled(scenario));
  return origins;
}

}  // namespace gradwire::runner
