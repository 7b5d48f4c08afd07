#pragma once
#include <set>
#include <span>
#include <string>
#include <vector>

#include "results/store/store.h"

/// Which runs answer one question together.
namespace gradwire::results {

/// Runs that do the same work: the scenario's /workload is equal, or the scenario's name is. What a
/// scenario sweeps is to be compared; accuracy after 20 steps and after 200 is not.
struct WorkloadRuns {
  std::string name;                 ///< "quickstart: mlp on digits"
  std::set<std::string> scenarios;  ///< their names
  std::vector<RunId> runs;
  bool finished = false;  ///< one of them has ended
};

/// In order of their first runs. Throws StoreError for a run that does not exist.
std::vector<WorkloadRuns> workloads_of(const Store& store, std::span<const RunId> runs);

}  // namespace gradwire::results
