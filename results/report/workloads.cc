#include "results/report/workloads.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace gradwire::results {
namespace {

/// /workload as text; the scenario's name where it has none or the text is not JSON.
std::string work_of(const RunHeader& header) {
  const auto scenario = nlohmann::json::parse(header.scenario_json, nullptr, false);
  if (!scenario.is_object() || !scenario.contains("workload")) return header.scenario_name;
  return header.model + "\n" + header.data_set + "\n" + scenario["workload"].dump();
}

struct KnownWorkload {
  WorkloadRuns workload;
  std::set<std::string> work;
  std::string what;  ///< "mlp on digits"
};

std::string what_of(const RunHeader& header) {
  if (!header.data_set.empty()) return header.model + " on " + header.data_set;
  return header.model;
}

std::string name_of_workload(const KnownWorkload& known) {
  std::string name;
  for (const std::string& scenario : known.workload.scenarios)
    name += (name.empty() ? "" : ", ") + scenario;
  return known.what.empty() || known.what == name ? name : name + ": " + known.what;
}

}  // namespace

std::vector<WorkloadRuns> workloads_of(const Store& store, std::span<const RunId> runs) {
  std::vector<KnownWorkload> all;
  std::map<std::string, std::string> work_of_hash;  // a sweep's texts are long, and read once each
  for (const RunId id : runs) {
    const auto run = store.run(id);
    if (!run)
      throw StoreError("report on", "run " + std::to_string(id), "there is no such run",
                       "list the runs with `gradwire list`");
    const RunHeader& header = run->header;
    const auto [work, fresh] =
        work_of_hash.try_emplace(header.scenario_hash + header.model + header.data_set);
    if (fresh) work->second = work_of(header);
    auto own = std::ranges::find_if(all, [&, &text = work->second](const KnownWorkload& known) {
      return known.work.contains(text) || known.workload.scenarios.contains(header.scenario_name);
    });
    if (own == all.end()) {
      own = all.insert(all.end(), KnownWorkload());
      own->what = what_of(header);
    }
    own->work.insert(work->second);
    own->workload.scenarios.insert(header.scenario_name);
    own->workload.runs.push_back(id);
    own->workload.finished = own->workload.finished || has_ended(run->status);
  }
  std::vector<WorkloadRuns> result;
  for (KnownWorkload& known : all) {
    known.workload.name = name_of_workload(known);
    result.push_back(std::move(known.workload));
  }
  return result;
}

}  // namespace gradwire::results
