#pragma once
#include "scenarios/rules.h"

namespace gradwire::scenarios {

/// /schedule with the rest of a training workload.
void check_schedule(const Rules& rules);

}  // namespace gradwire::scenarios
