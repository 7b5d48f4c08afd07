#pragma once
#include "scenarios/links.h"
#include "scenarios/scenario.h"

namespace gradwire::scenarios {

/// Fills the typed members from `scenario.json` (canonical; what was refused is absent and leaves
/// the members' defaults) and computes the hash.
void fill_from_json(Scenario& scenario, ScheduleFiles& files);

/// Hash of everything that decides what a run computes, but its seed.
std::string scenario_hash(const nlohmann::ordered_json& canonical);

}  // namespace gradwire::scenarios
