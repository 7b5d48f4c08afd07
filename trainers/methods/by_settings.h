#pragma once
#include "trainers/methods/catalogue.h"

namespace gradwire::methods {

/// Published methods that a scenario chooses by its schedule or its optimiser in place of /method,
/// which goes with each of them: for lists and pages. `summary` ends with the setting. The paper of
/// an optimiser is its update rule's (trainers/updates/catalogue.h) and empty here.
const std::vector<MethodRow>& methods_by_settings();

}  // namespace gradwire::methods
