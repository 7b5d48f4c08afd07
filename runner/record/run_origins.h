#pragma once
#include <string_view>

#include "results/runs/figure_origin.h"
#include "scenarios/trainer.h"

namespace gradwire::runner {

/// How a run's figures come about. `profile`: as its trainer prepared it; `time`: the executor's
/// provenance. Times from a device profile are what that profile says of itself; where it or the
/// layer table was computed or assumed, so are they.
results::RunOrigins origins_of(const scenarios::Scenario& scenario,
                               const scenarios::ComputeProfile& profile, std::string_view time);

}  // namespace gradwire::runner
