#pragma once
#include "scenarios/checks/rules.h"

namespace gradwire::scenarios {

/// The data set: one that the model can learn from, and whose files are there.
void check_data(const Rules& rules);
/// The method: options that go together, momentum correction, and a collective that can carry it.
void check_method(const Rules& rules);

}  // namespace gradwire::scenarios
