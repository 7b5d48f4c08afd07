#pragma once
#include <string>

#include "scenarios/scenario.h"

/// What a run says of itself beside its figures.
namespace gradwire::runner {

/// The model, the profile's name, or what a workload without a model does.
std::string model_label(const scenarios::Workload& workload);

/// "; worker 1 is away from 70 ms on and never returns": all who are gone for good by `time`.
std::string gone_workers(const scenarios::Scenario& scenario, Seconds time);

}  // namespace gradwire::runner
