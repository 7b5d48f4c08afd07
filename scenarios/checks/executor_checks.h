#pragma once
#include <string>
#include <utility>
#include <vector>

#include "scenarios/checks/rules.h"

/// Rules about what each executor knows, and about workers that fail.
namespace gradwire::scenarios {

/// The links that a scenario gives, with their places.
std::vector<std::pair<std::string, sim::LinkSpec>> given_links(const NetworkPlan& network);

/// What the scenario asks for and its executor does not have.
void check_executor(const Rules& rules);

/// Absences of workers that there are not, or that cannot be.
void check_absences(const Rules& rules);

}  // namespace gradwire::scenarios
