#pragma once
#include <string>

namespace gradwire::scenarios {

/// The page docs/scenarios.md, from the table of fields.
std::string scenario_docs();

}  // namespace gradwire::scenarios
