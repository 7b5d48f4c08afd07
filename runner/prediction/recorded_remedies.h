#pragma once
#include <string>
#include <vector>

#include "scenarios/scenario.h"

namespace gradwire::runner {

/// One change, and the steps of a recording with it.
struct Remedy {
  std::string change;  ///< "links ten times as fast"
  double step_s = 0;   ///< mean of its usual steps
};

/// What would make the steps of a recording shorter, the shortest first: each change is simulated
/// in `flow`, over the first kRemedySteps steps. `now`: the same steps without any. Changes that
/// save less than a fiftieth are left out.
struct Remedies {
  double now_s = 0;
  std::vector<Remedy> changes;
};
inline constexpr int kRemedySteps = 20;
Remedies remedies_of(const scenarios::Scenario& scenario);

}  // namespace gradwire::runner
