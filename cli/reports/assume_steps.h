#pragma once
#include <string>

#include "results/advice/steps_to_target.h"

namespace gradwire::cli {

inline constexpr const char* kAssumeStepsHelp =
    "Where a global batch was never trained: none (refuse), as many steps as with the nearest one "
    "(same), or as many samples (samples)";

/// "none", "same", "samples".
inline results::StepsAssumption assumption_of(const std::string& name) {
  if (name == "same") return results::StepsAssumption::kSameSteps;
  if (name == "samples") return results::StepsAssumption::kSameSamples;
  return results::StepsAssumption::kNone;
}

}  // namespace gradwire::cli
