#pragma once
#include "scenarios/checks/rules.h"

namespace gradwire::scenarios {

/// All rules between fields: impossible pairs, names that nothing bears, files that are missing;
/// and, as warnings, pairs that are possible but suspicious.
void check_rules(const Rules& rules);

}  // namespace gradwire::scenarios
