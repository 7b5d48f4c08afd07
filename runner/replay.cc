#include "runner/replay.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "runner/pipeline_replay.h"
#include "runner/repeated_step.h"
#include "sim/topologies/topologies.h"
#ifdef GRADWIRE_HAVE_PROFILE_REPLAY
#include "trainers/profile_replay.h"
#endif

namespace gradwire::runner {
namespace {

using scenarios::Scenario;
using scenarios::StepPlan;

sim::CollectiveKind kind_of(const std::string& name) {
  for (int k = 0; k <= static_cast<int>(sim::CollectiveKind::kInNetworkAllReduce); ++k) {
    const auto kind = static_cast<sim::CollectiveKind>(k);
    if (sim::name_of(kind) == name) return kind;
  }
  throw Error(ErrorKind::kScenario, "replay the collective", name, "it is unknown");
}

/// `size` bytes a worker (reductions: the vector that is reduced; gathers: each worker's block;
/// all-to-all: what a worker has for all; broadcast: the message).
std::unique_ptr<scenarios::Trainer> replay_collective(const Scenario& scenario) {
  const auto& workload = scenario.workload;
  sim::CollectiveSpec spec;
  spec.kind = kind_of(workload.collective);
  spec.members = all_workers(scenario.cluster.workers);
  spec.elements = workload.collective_bytes.count();
  spec.width_bits = {8};
  spec.group = workload.group;
  if (spec.kind == sim::CollectiveKind::kInNetworkAllReduce) {
    spec.parent = scenarios::aggregation_of(scenario).parent;
    spec.members = all_workers(static_cast<int>(spec.parent.size()));  // aggregators follow
  }
  StepPlan plan;
  plan.bytes.assign(spec.byte_slots(), workload.collective_bytes);
  plan.payload = plan.dense_payload = sim::total_payload(spec, plan.bytes);
  sim::GraphBuilder builder;
  const sim::OpIndex op = builder.add_collective(std::move(spec), workload.collective);
  plan.graph = builder.finish();
  plan.seconds.assign(plan.graph->size(), Seconds(0));
  return std::make_unique<RepeatedStep>(std::move(plan), workload.repetitions, Chain{{op, op}});
}

/// Every worker pushes `size` bytes to the server, which answers with as many; k shards have k-ths
/// of them.
std::unique_ptr<scenarios::Trainer> replay_parameter_server(const Scenario& scenario) {
  const auto& workload = scenario.workload;
  const int n = scenario.cluster.workers;
  sim::GraphBuilder builder;
  StepPlan plan;
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
    pushes.push_back(builder.add_collective(std::move(push), "push"));
    const sim::OpIndex sum =
        builder.add_operation(sim::OpKind::kAggregate, sim::Lane::kCodec, n + s, "aggregate",
                              std::vector<sim::OpIndex>{pushes.back()});
    pulls.push_back(
        builder.add_collective(std::move(pull), "pull", std::vector<sim::OpIndex>{sum}));
  }
  Chain chain;
  for (const sim::OpIndex pull : pulls)
    for (const sim::OpIndex push : pushes) chain.emplace_back(pull, push);
  plan.graph = builder.finish();
  plan.seconds.assign(plan.graph->size(), Seconds(0));
  plan.payload = plan.dense_payload = workload.collective_bytes * (2 * n);
  return std::make_unique<RepeatedStep>(std::move(plan), workload.repetitions, std::move(chain));
}

std::map<std::string, int> host_numbers(const Scenario& scenario) {
  std::map<std::string, int> numbers;
  if (scenario.network.topology == "explicit") {
    for (const std::string& host : scenario.network.hosts)
      numbers.emplace(host, static_cast<int>(numbers.size()));
  } else {
    const sim::Cluster cluster = scenarios::build_cluster(scenario);
    for (int host = 0; host < cluster.host_count(); ++host)
      numbers.emplace(cluster.node_names()[static_cast<std::size_t>(cluster.host_node(host))],
                      host);
  }
  return numbers;
}

/// A transfer that starts later than 0 waits for a compute operation of that length, each on a lane
/// of its own: delays of one host must not add up.
std::unique_ptr<scenarios::Trainer> replay_transfers(const Scenario& scenario) {
  const auto numbers = host_numbers(scenario);
  sim::GraphBuilder builder;
  StepPlan plan;
  for (const auto& transfer : scenario.workload.transfers) {
    const int source = numbers.at(transfer.source);
    const int destination = numbers.at(transfer.destination);
    std::vector<sim::OpIndex> after;
    if (transfer.start > Seconds(0)) {
      after.push_back(
          builder.add_operation(sim::OpKind::kCompute, sim::Lane::kNone, source, "wait"));
      plan.seconds.push_back(transfer.start);
    }
    builder.add_transfer(source, destination, transfer.source + " to " + transfer.destination, {},
                         after);
    plan.seconds.push_back(Seconds(0));
    plan.bytes.push_back(transfer.bytes);
    plan.payload += transfer.bytes;
  }
  plan.dense_payload = plan.payload;
  plan.graph = builder.finish();
  return std::make_unique<RepeatedStep>(std::move(plan), 1, Chain{});
}

}  // namespace

std::unique_ptr<scenarios::Trainer> make_replay(const Scenario& scenario) {
  switch (scenario.workload.kind) {
    case scenarios::WorkloadKind::kCollective:
      return scenario.workload.collective == "parameter-server" ? replay_parameter_server(scenario)
                                                                : replay_collective(scenario);
    case scenarios::WorkloadKind::kTransfers:
      return replay_transfers(scenario);
    case scenarios::WorkloadKind::kProfile:
#ifdef GRADWIRE_HAVE_PROFILE_REPLAY
      return trainers::make_profile_replay(scenario);
#else
      throw Error(ErrorKind::kCapability, "replay", scenario.workload.profile,
                  "this build was made without the trainers folder", "build all folders");
#endif
    case scenarios::WorkloadKind::kPipeline:
      return make_pipeline_replay(scenario);
    case scenarios::WorkloadKind::kFederated:
    case scenarios::WorkloadKind::kTraining:
      break;
  }
  throw Error(ErrorKind::kScenario, "replay", scenario.name, "it trains a model");
}

}  // namespace gradwire::runner
