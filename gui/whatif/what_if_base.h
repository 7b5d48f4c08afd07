#pragma once
#include <QString>
#include <span>

#include "gui/whatif/what_if.h"
#include "results/store.h"

/// What the what-if panel starts from. Both read files or the database: not for the window's
/// thread.
namespace gradwire::gui {

/// `runs`: all of the store. Null where there is no such run.
WhatIfBasePtr base_of_run(const results::Store& store, std::span<const results::RunSummary> runs,
                          results::RunId id);

/// The first run of a scenario file. Throws scenarios::ScenarioError.
WhatIfBasePtr base_of_scenario(const std::string& path, std::span<const results::RunSummary> runs);

}  // namespace gradwire::gui
