#include "runner/training/replay.h"

#include <map>

#include "base/error.h"
#include "trainers/replays/collective_replay.h"
#include "trainers/replays/federated_replay.h"
#include "trainers/replays/pipeline_replay.h"
#include "trainers/replays/recorded_replay.h"
#include "trainers/replays/repeated_step.h"
#ifdef GRADWIRE_HAVE_PROFILE_REPLAY
#include "trainers/replays/profile_replay.h"
#endif

namespace gradwire::runner {
namespace {

using scenarios::Scenario;
using scenarios::StepPlan;

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
  return std::make_unique<trainers::RepeatedStep>(std::move(plan), 1, trainers::Chain{});
}

}  // namespace

std::unique_ptr<scenarios::Trainer> make_replay(const Scenario& scenario) {
  switch (scenario.workload.kind) {
    case scenarios::WorkloadKind::kCollective:
      return trainers::make_collective_replay(scenario);
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
      return trainers::make_pipeline_replay(scenario);
    case scenarios::WorkloadKind::kFederated:
      return trainers::make_federated_replay(scenario);
    case scenarios::WorkloadKind::kRecording:
      return trainers::make_recorded_replay(scenario);
    case scenarios::WorkloadKind::kTraining:
      break;
  }
  throw Error(ErrorKind::kScenario, "replay", scenario.name, "it trains a model");
}

}  // namespace gradwire::runner
