#pragma once
#include "scenarios/checks/rules.h"

namespace gradwire::scenarios {

/// Whether a host bears this name; if not, `pointer` is refused.
bool check_host(const Rules& rules, const std::string& pointer, const std::string& name);
/// An explicit topology: names, links, routes, and a worker for each host that is no server.
void check_explicit(const Rules& rules);
/// A wide area's sites, their links and workers.
void check_sites(const Rules& rules);
/// A generated topology that cannot have these sizes; where nothing was refused before.
void check_size(const Rules& rules);

}  // namespace gradwire::scenarios
