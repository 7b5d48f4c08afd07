#pragma once
#include "scenarios/scenario.h"

namespace gradwire::scenarios {

/// Hash of everything that decides what a run computes, but its seed. `canonical`: the whole
/// scenario.
std::string scenario_hash(const nlohmann::ordered_json& canonical);

}  // namespace gradwire::scenarios
