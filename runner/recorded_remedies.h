#pragma once
#include <string>
#include <vector>

#include "scenarios/scenario.h"

namespace gradwire::runner {

/// One change, and the steps of a recording with it.
struct Remedy {
  std::string change;  ///< "links ten times as fast"
  double step_s = 0;   ///< median of its steps
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

/// Of the times of a recording's steps, the median without the first, which has the script's set-up
/// in it, and, where there are others, the last, which may be what follows the last step. 0: none.
double usual_step(std::vector<double> times);

}  // namespace gradwire::runner
