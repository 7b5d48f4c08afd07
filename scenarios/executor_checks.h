#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/scenario.h"

/// Rules about what each executor knows, and about workers that fail; for checks.cc alone.
namespace gradwire::scenarios {

/// What is wrong, or suspicious, at a pointer; `allowed` may be empty.
using Told = std::function<void(const std::string& pointer, const std::string& message,
                                const std::string& allowed)>;

/// The links that a scenario gives, with their places.
std::vector<std::pair<std::string, sim::LinkSpec>> given_links(const NetworkPlan& network);

/// What the scenario asks for and its executor does not have.
void check_executor(const Scenario& scenario, const Told& refuse, const Told& warn);

/// Absences of workers that there are not, or that cannot be.
void check_absences(const Scenario& scenario, const Told& refuse);

}  // namespace gradwire::scenarios
