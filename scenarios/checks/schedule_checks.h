#pragma once
#include "scenarios/checks/rules.h"

namespace gradwire::scenarios {

/// Rounds: their clients and how much they train.
void check_schedule(const Rules& rules);

}  // namespace gradwire::scenarios
