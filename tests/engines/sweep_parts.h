#pragma once
#include <string>
#include <vector>

#include "engines/part_report.h"
#include "results/store/store.h"
#include "scenarios/scenario.h"

/// A sweep of eight collectives, and parts as processes hand them in.
namespace gradwire::testing {

inline scenarios::ScenarioFile eight_runs() {
  return scenarios::read_scenario_text(
      R"({"schema_version": 1, "name": "eight",
          "workload": {"collective": "ring-all-reduce", "bytes": "1MB", "repetitions": 1},
          "cluster": {"workers": 4}, "executor": "model", "seeds": [1, 2],
          "sweep": {"/network/link/bandwidth": ["1Mbps", "10Mbps", "100Mbps", "1Gbps"]}})",
      "eight.json");
}

inline results::RunHeader header_of(const scenarios::Scenario& scenario) {
  results::RunHeader header;
  header.scenario_hash = scenario.hash;
  header.scenario_json = scenario.json.dump();
  header.scenario_name = scenario.name;
  header.seed = scenario.seed;
  return header;
}

/// Runs of those places, all of that status, in one part.
inline engines::PartReport make_part(const std::string& path, const scenarios::ScenarioFile& file,
                                     const std::vector<std::size_t>& places,
                                     results::RunStatus status = results::RunStatus::kFinished,
                                     const std::string& uid = {}) {
  const auto store = results::Store::in_memory();
  engines::PartReport report;
  report.part = path;
  for (const std::size_t place : places) {
    results::RunHeader header = header_of(file.runs[place]);
    header.uid = uid;
    const results::RunId run = store->begin_run(header, 1);
    store->finish_run(run, status, "", "", "", {});
    report.runs.push_back({place, run, "", status == results::RunStatus::kPartial});
  }
  store->copy_to(path);
  return report;
}

}  // namespace gradwire::testing
