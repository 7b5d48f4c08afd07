#pragma once
#include <string>

#include "scenarios/trainer.h"

/// What a run asks of the machine that simulates it, so that one that would take years, or more
/// memory than there is, says so at its start and is not begun.
namespace gradwire::runner {

struct RunCost {
  double wall_s = 0;        ///< simulating alone, one core
  double memory_bytes = 0;  ///< what transfers on their way take at a time
};

/// Of `steps` steps like `plan`, right within a factor of a few. What training itself takes is not
/// in it; `packet` has a forecast of its own (runner/cost/packet_forecast.h).
RunCost run_cost(const scenarios::Scenario& scenario, const scenarios::StepPlan& plan,
                 std::int64_t steps);

/// Throws Error (kCapability) with what it would cost where that is more than `most_hours`, or more
/// than the memory that is available; `plan` and `steps` as above.
void require_affordable(const scenarios::Scenario& scenario, const scenarios::StepPlan& plan,
                        std::int64_t steps, double most_hours);

/// The same of a time that is known.
void require_affordable(const scenarios::Scenario& scenario, double wall_s, double most_hours);

/// "3 hours", "2.1 days", "40 years"
std::string long_duration(double seconds);

}  // namespace gradwire::runner
