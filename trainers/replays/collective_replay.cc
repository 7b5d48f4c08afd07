#include "trainers/replays/collective_replay.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/error.h"
#include "sim/cluster/topologies/topologies.h"
#include "sim/executors.h"
#include "sim/graph/gossip_graph.h"
#include "trainers/replays/repeated_step.h"

namespace gradwire::trainers {
namespace {

using scenarios::CollectiveChoice;
using scenarios::Scenario;
using scenarios::StepPlan;
using scenarios::Workload;

constexpr const char* kReduction = "-all-reduce";

sim::CollectiveKind kind_of(const std::string& name) {
  if (const auto kind = sim::collective_named(name)) return *kind;
  throw Error(ErrorKind::kScenario, "replay the collective", name, "it is unknown");
}

/// Bytes of a worker: reductions: the vector that is reduced; gathers: its block; all-to-all: what
/// it has for all; broadcast and gossip: the message.
sim::CollectiveSpec spec_of(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  sim::CollectiveSpec spec;
  spec.kind = kind_of(workload.collective);
  spec.members = all_workers(scenario.cluster.workers);
  spec.elements = workload.collective_bytes.count();
  spec.width_bits = {8};
  spec.group = workload.group;
  if (spec.kind == sim::CollectiveKind::kGossip)
    sim::set_neighbours(spec, scenarios::gossip_edges(scenario));
  if (spec.kind == sim::CollectiveKind::kInNetworkAllReduce) {
    spec.parent = scenarios::aggregation_of(scenario).parent;
    spec.members = all_workers(static_cast<int>(spec.parent.size()));  // aggregators follow
  }
  return spec;
}

/// Adds each worker's computation; empty where it takes no time.
std::vector<sim::OpIndex> add_computation(const Scenario& scenario, sim::GraphBuilder& builder,
                                          StepPlan& plan) {
  std::vector<sim::OpIndex> ready;
  if (scenario.workload.compute == Seconds(0)) return ready;
  for (int w = 0; w < scenario.cluster.workers; ++w) {
    ready.push_back(
        builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, w, "compute"));
    plan.seconds.push_back(scenario.workload.compute *
                           scenario.cluster.slowdown[static_cast<std::size_t>(w)]);
  }
  return ready;
}

Chain chain_of(const std::vector<sim::OpIndex>& ends, const std::vector<sim::OpIndex>& ready,
               const std::vector<sim::OpIndex>& starts) {
  Chain chain;
  for (const sim::OpIndex end : ends)
    for (const sim::OpIndex start : ready.empty() ? starts : ready) chain.emplace_back(end, start);
  return chain;
}

struct Replayed {
  StepPlan plan;
  Chain chain;
};

Replayed one_collective(const Scenario& scenario) {
  sim::CollectiveSpec spec = spec_of(scenario);
  Replayed step;
  StepPlan& plan = step.plan;
  plan.bytes.assign(spec.byte_slots(), scenario.workload.collective_bytes);
  plan.payload = plan.dense_payload = sim::total_payload(spec, plan.bytes);
  sim::GraphBuilder builder;
  const auto ready = add_computation(scenario, builder, plan);
  const sim::OpIndex op =
      builder.add_collective(std::move(spec), scenario.workload.collective, ready);
  plan.graph = builder.finish();
  plan.seconds.resize(plan.graph->size());
  step.chain = chain_of({op}, ready, {op});
  return step;
}

/// Every worker pushes its bytes to the server, which answers with as many; k shards have k-ths of
/// them.
Replayed parameter_server(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  const int n = scenario.cluster.workers;
  sim::GraphBuilder builder;
  Replayed step;
  StepPlan& plan = step.plan;
  const auto ready = add_computation(scenario, builder, plan);
  std::vector<sim::OpIndex> pushes, pulls;
  for (int s = 0; s < workload.shards; ++s) {
    sim::CollectiveSpec push;
    push.kind = sim::CollectiveKind::kPush;
    push.members = all_workers(n);
    push.server = n + s;
    push.elements = sim::chunk_range(workload.collective_bytes.count(), workload.shards, s).count;
    sim::CollectiveSpec pull = push;
    pull.kind = sim::CollectiveKind::kPull;
    plan.bytes.insert(plan.bytes.end(), static_cast<std::size_t>(2 * n), Bytes(push.elements));
    pushes.push_back(builder.add_collective(std::move(push), "push", ready));
    const sim::OpIndex sum =
        builder.add_operation(sim::OpKind::kAggregate, sim::Lane::kCodec, n + s, "aggregate",
                              std::vector<sim::OpIndex>{pushes.back()});
    pulls.push_back(
        builder.add_collective(std::move(pull), "pull", std::vector<sim::OpIndex>{sum}));
  }
  plan.graph = builder.finish();
  plan.seconds.resize(plan.graph->size());
  plan.payload = plan.dense_payload = workload.collective_bytes * (2 * n);
  step.chain = chain_of(pulls, ready, pushes);
  return step;
}

Seconds time_of(const Scenario& scenario) {
  const StepPlan plan = one_collective(scenario).plan;
  sim::ExecutorOptions options;
  options.transport = scenario.network.transport;
  options.transport.initial_window = scenarios::kOpenWindow;
  const auto executor =
      sim::make_executor("flow", scenarios::build_clean_cluster(scenario), options);
  return sim::run_to_end(*executor, executor->submit({plan.graph, plan.bytes, plan.seconds})).end;
}

CollectiveChoice choose(Scenario scenario) {
  CollectiveChoice choice;
  scenario.workload.compute = Seconds(0);
  for (const char* name : {"ring", "tree", "halving-doubling", "two-level"}) {
    if (std::string_view(name) == "two-level" &&
        scenario.workload.group >= scenario.cluster.workers)
      continue;
    scenario.workload.collective = std::string(name) + kReduction;
    choice.candidates.push_back({name, time_of(scenario)});
  }
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  return choice;
}

/// The same, found once for the life of the process by network, workers and size.
CollectiveChoice known_choice(const Scenario& scenario) {
  static std::mutex mutex;
  static std::map<std::string, CollectiveChoice> known;
  const std::string key = scenario.json.value("network", nlohmann::ordered_json()).dump() + "/" +
                          std::to_string(scenario.cluster.workers) + "/" +
                          std::to_string(scenario.workload.collective_bytes.count());
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, choose(scenario)).first->second;
}

class CollectiveReplay final : public RepeatedStep {
 public:
  CollectiveReplay(Replayed step, std::int64_t repetitions, CollectiveChoice choice)
      : RepeatedStep(std::move(step.plan), repetitions, std::move(step.chain)),
        choice_(std::move(choice)) {}
  CollectiveChoice collective_choice() const override { return choice_; }

 private:
  CollectiveChoice choice_;
};

}  // namespace

std::unique_ptr<scenarios::Trainer> make_collective_replay(const Scenario& given) {
  Scenario scenario = given;
  CollectiveChoice choice;
  std::string& collective = scenario.workload.collective;
  if (collective == "auto") {
    const bool machines = scenario.network.topology == "gpu-nodes";
    scenario.workload.group = machines ? scenario.network.gpus_per_node : scenarios::kUsualGroup;
    choice = known_choice(scenario);
    collective = choice.candidates.front().collective + kReduction;
  }
  Replayed step =
      collective == "parameter-server" ? parameter_server(scenario) : one_collective(scenario);
  auto replay = std::make_unique<CollectiveReplay>(std::move(step), scenario.workload.repetitions,
                                                   std::move(choice));
  const Seconds compute = scenario.workload.compute;
  if (compute > Seconds(0)) replay->set_given_compute(compute);
  return replay;
}

}  // namespace gradwire::trainers
