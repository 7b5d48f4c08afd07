#pragma once
#include <cstddef>
#include <span>
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

/// [first, last) of a recording's steps: without the first, which has the script's set-up in it,
/// and, where there are others, the last, which may be what follows the last step.
struct UsualRange {
  std::size_t first, last;
  explicit UsualRange(std::size_t steps)
      : first(steps > 1 ? 1 : 0), last(steps > 2 ? steps - 1 : steps) {}
};
/// The median of their times; 0: there are none.
double usual_step(std::span<const double> times);

}  // namespace gradwire::runner
