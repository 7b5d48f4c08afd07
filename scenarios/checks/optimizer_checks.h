#pragma once
#include "scenarios/checks/rules.h"

namespace gradwire::scenarios {

/// Options of the optimiser and its learning-rate schedule that make no sense together.
void check_optimizer(const Rules& rules);

}  // namespace gradwire::scenarios
