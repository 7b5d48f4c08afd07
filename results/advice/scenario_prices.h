#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/advice/cost.h"
#include "results/store/store.h"

namespace gradwire::results {

/// The `prices` of a resolved scenario (its JSON); without them everything is free.
CostOptions costs_of_scenario(const std::string& json);

/// Those of the latest run that has any. Where others among `runs` have other ones, `warnings` says
/// so.
CostOptions costs_of_runs(std::span<const RunSummary> runs, std::vector<std::string>& warnings);

}  // namespace gradwire::results
