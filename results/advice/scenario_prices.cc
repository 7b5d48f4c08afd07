#include "results/advice/scenario_prices.h"

#include "results/runs/scenario_view.h"

namespace gradwire::results {

CostOptions costs_of_scenario(const std::string& json) {
  CostOptions costs;
  const auto leaves = scenario_leaves(json);
  const auto take = [&](const char* name, double& value) {
    const auto found = leaves.find(std::string("/prices/") + name);
    if (found != leaves.end()) number_from(found->second, value);
  };
  take("gpu_hour", costs.prices.gpu_hour);
  take("port_hour", costs.prices.port_hour);
  take("gigabyte", costs.prices.gigabyte);
  take("ports_per_worker", costs.prices.ports_per_worker);
  take("epoch_samples", costs.epoch_samples);
  const auto currency = leaves.find("/prices/currency");
  if (currency != leaves.end()) costs.currency = currency->second;
  return costs;
}

CostOptions costs_of_runs(std::span<const RunSummary> runs, std::vector<std::string>& warnings) {
  CostOptions costs;
  RunId latest = 0;
  bool differ = false;
  for (const RunSummary& run : runs) {
    const CostOptions own = costs_of_scenario(run.header.scenario_json);
    if (!own.prices.any()) continue;
    differ = differ || (latest != 0 && own != costs);
    if (run.id < latest) continue;
    costs = own;
    latest = run.id;
  }
  if (differ)
    warnings.push_back("the runs' scenarios have different prices: those of run " +
                       std::to_string(latest) + " are taken");
  return costs;
}

}  // namespace gradwire::results
