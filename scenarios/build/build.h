#pragma once
#include "scenarios/networks/links.h"
#include "scenarios/scenario.h"

namespace gradwire::scenarios {

/// Fills the typed members from `scenario.json` (canonical; what was refused is absent and leaves
/// the members' defaults) and computes the hash.
void fill_from_json(Scenario& scenario, ScheduleFiles& files);

}  // namespace gradwire::scenarios
