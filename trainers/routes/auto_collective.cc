#include "trainers/routes/auto_collective.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "scenarios/methods.h"
#include "sim/executors.h"
#include "trainers/routes/exchange.h"
#include "trainers/routes/set_exchange.h"

namespace gradwire::trainers {
namespace {

using scenarios::CollectiveChoice;
using scenarios::Scenario;

std::vector<std::string> candidates(const Scenario& scenario) {
  const auto policy = exchange_settings(scenario).codec->policy();
  std::vector<std::string> names;
  for (const char* name : {"ring", "tree", "halving-doubling", "two-level", "direct"}) {
    const bool one_group = scenario.exchange.group >= scenario.cluster.workers;
    if (std::string_view(name) == "two-level" && one_group) continue;
    if (scenarios::exchange_conflict(policy, name).empty()) names.emplace_back(name);
  }
  return names;
}

Seconds time_of_exchange(const Scenario& scenario, const Layout& layout) {
  StateStore states;
  const auto method = scenarios::training_method(scenario);
  const auto exchange = make_set_exchange(scenario, *method, method->phases() - 1, layout, states);
  scenarios::ComputeProfile nothing;
  for (const BucketSlot& bucket : layout.buckets())
    nothing.buckets.emplace_back().elements = bucket.count;
  const auto plan = make_step_template(scenario, layout, *exchange, nothing);
  std::vector<Bytes> bytes;
  StepTraffic traffic(*plan, bytes);
  exchange->charge(traffic);
  const std::vector<Seconds> seconds(plan->graph()->size(), Seconds(0));
  sim::ExecutorOptions options;
  options.transport = scenario.network.transport;
  options.transport.initial_window = scenarios::kOpenWindow;
  const auto executor =
      sim::make_executor("flow", scenarios::build_clean_cluster(scenario), options);
  return sim::run_to_end(*executor, executor->submit({plan->graph(), bytes, seconds})).end;
}

std::string key_of(const Scenario& scenario, const Layout& layout) {
  std::string key = scenario.json.value("network", nlohmann::ordered_json()).dump() +
                    scenario.json.value("method", nlohmann::ordered_json()).dump() +
                    scenarios::method_label(scenario.method) +
                    std::to_string(scenario.cluster.workers) + "/" +
                    std::to_string(scenario.exchange.group);
  for (const BucketSlot& bucket : layout.buckets())
    key += "/" + std::to_string(bucket.tensors()) + ":" + std::to_string(bucket.count);
  return key;
}

CollectiveChoice measure(Scenario scenario, const Layout& layout) {
  CollectiveChoice choice;
  for (const std::string& name : candidates(scenario)) {
    scenario.exchange.collective = name;
    choice.candidates.push_back({name, time_of_exchange(scenario, layout)});
  }
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  return choice;
}

}  // namespace

CollectiveChoice choose_collective(const Scenario& scenario, const Layout& layout) {
  if (scenario.exchange.collective != "auto") return {};
  Scenario grouped = scenario;
  grouped.exchange.group = scenario.network.topology == "gpu-nodes" ? scenario.network.gpus_per_node
                                                                    : scenarios::kUsualGroup;
  static std::mutex mutex;
  static std::map<std::string, CollectiveChoice> known;
  const std::string key = key_of(grouped, layout);
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, measure(grouped, layout)).first->second;
}

Scenario with_choice(Scenario scenario, const CollectiveChoice& choice) {
  if (choice.candidates.empty()) return scenario;
  scenario.exchange.collective = choice.candidates.front().collective;
  if (scenario.network.topology == "gpu-nodes")
    scenario.exchange.group = scenario.network.gpus_per_node;
  else
    scenario.exchange.group = scenarios::kUsualGroup;
  return scenario;
}

}  // namespace gradwire::trainers
