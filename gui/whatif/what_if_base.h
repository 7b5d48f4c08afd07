#pragma once
#include <QString>
#include <span>

#include "gui/whatif/what_if.h"
#include "results/store/store.h"

/// What the what-if panel starts from. Both read files or the database: not for the window's
/// thread.
namespace gradwire::gui {

/// What stored runs and publications say of methods' accuracy: once for a set of runs.
results::AccuracyKnowledge knowledge_of(std::span<const results::RunSummary> runs);

/// `runs`: all of the store. Null where there is no such run.
WhatIfBasePtr base_of_run(const results::Store& store, std::span<const results::RunSummary> runs,
                          results::RunId id, const results::AccuracyKnowledge& knowledge);

/// The first run of a scenario file. Throws scenarios::ScenarioError.
WhatIfBasePtr base_of_scenario(const std::string& path,
                               const results::AccuracyKnowledge& knowledge);

}  // namespace gradwire::gui
