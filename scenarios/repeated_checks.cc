#include "scenarios/repeated_checks.h"

namespace gradwire::scenarios {
namespace {

void check_pipeline(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  const std::size_t stages = scenario.workload.pipeline.stages.size();
  if (stages != 0 && stages != static_cast<std::size_t>(scenario.cluster.workers))
    rules.refuse("/workload/pipeline/stages",
                 std::to_string(stages) + " stages for " +
                     std::to_string(scenario.cluster.workers) + " workers",
                 "one stage a worker, or none listed");
}

void check_federated(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  const Workload::Federated& federated = scenario.workload.federated;
  if (federated.sample > scenario.cluster.workers)
    rules.refuse("/workload/federated/sample",
                 "there are " + std::to_string(scenario.cluster.workers) + " clients",
                 "all or fewer");
  if (federated.drop_out > 0 && federated.deadline == Seconds(0))
    rules.refuse("/workload/federated/drop_out",
                 "without a deadline a round waits for ever for a client that drops out",
                 "0, or a /workload/federated/deadline");
  if (federated.deadline > Seconds(0) && scenario.executor == "model")
    rules.refuse("/workload/federated/deadline",
                 "the model executor knows no clock by which a round could be cut off",
                 "0s, or executor flow, packet or emulator");
}

void check_gossip(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  try {
    gossip_edges(scenario);
  } catch (const sim::SimError& error) {
    rules.refuse(scenario.workload.edges.empty() ? "/workload/graph" : "/workload/edges",
                 error.what());
  }
}

}  // namespace

void check_repeated(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  if (scenario.workload.kind == WorkloadKind::kPipeline) check_pipeline(rules);
  if (scenario.workload.kind == WorkloadKind::kFederated) check_federated(rules);
  if (scenario.workload.collective == "gossip") check_gossip(rules);
}

}  // namespace gradwire::scenarios
