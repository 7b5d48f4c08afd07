#pragma once
#include <set>
#include <span>
#include <string>
#include <vector>

#include "results/scalability/models.h"
#include "results/store/store.h"
#include "scenarios/document/overrides.h"

/// Scenarios over numbers of workers, for the scalability report.
namespace gradwire::runner {

/// Numbers of workers that a scenario is run on where it names a single one.
inline constexpr int kUsualWorkers[] = {2, 4, 8, 16};

/// The file's runs on each of `workers` (its own and a sweep's are replaced). Throws ScenarioError
/// where the scenario cannot have that many.
scenarios::ScenarioFile scenario_on(const std::string& path, const scenarios::Overrides& overrides,
                                    std::span<const int> workers);

std::set<int> worker_counts(const scenarios::ScenarioFile& file);

/// Finished stored runs of the file's scenarios on any number of workers, with any seed.
std::vector<results::RunId> stored_runs_of(const scenarios::ScenarioFile& file,
                                           const results::Store& store);
/// The file with only those runs that are not stored as finished.
scenarios::ScenarioFile missing_runs(const scenarios::ScenarioFile& file,
                                     const results::Store& store);

/// Takes the network's figures from the series' scenario, built with that many workers. Where its
/// topology cannot have that size (a fat tree of a fixed degree, explicit hosts), those of
/// `nearest` stay, and `remarks` says so once a series. Keeps what it was asked. `remarks` outlives
/// it.
results::StepAt step_at_size(std::vector<std::string>& remarks);

}  // namespace gradwire::runner
