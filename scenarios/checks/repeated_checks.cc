#include "scenarios/checks/repeated_checks.h"

#include "bridge/recording.h"
#include "scenarios/share.h"

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

void check_gossip(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  try {
    gossip_edges(scenario);
  } catch (const sim::SimError& error) {
    rules.refuse(scenario.workload.edges.empty() ? "/workload/graph" : "/workload/edges",
                 error.what());
  }
}

/// The file is there, can be read, and has as many ranks as there are workers.
void check_recording(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  const std::string path = relative_to_file(scenario.workload.recording, scenario.file);
  try {
    const bridge::Header header = bridge::read_header(path);
    if (!scenario.workload.alike && header.world != scenario.cluster.workers)
      rules.refuse("/cluster/workers",
                   "the recording has " + std::to_string(header.world) + " ranks",
                   std::to_string(header.world) + ", or any with /workload/alike");
  } catch (const Error& error) {
    rules.refuse("/workload/recording", error.what());
  }
}

}  // namespace

void check_clients(const Rules& rules, const std::string& base, int sample, double drop_out,
                   Seconds deadline, const std::string& clocked) {
  const Scenario& scenario = rules.scenario;
  if (sample > scenario.cluster.workers)
    rules.refuse(base + "/sample",
                 "there are " + std::to_string(scenario.cluster.workers) + " clients",
                 "all or fewer");
  if (drop_out > 0 && deadline == Seconds(0))
    rules.refuse(base + "/drop_out",
                 "without a deadline a round waits for ever for a client that drops out",
                 "0, or a " + base + "/deadline");
  if (deadline > Seconds(0) && scenario.executor == "model")
    rules.refuse(base + "/deadline",
                 "the model executor knows no clock by which a round could be cut off",
                 "0s, or executor " + clocked);
}

void check_repeated(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  if (scenario.workload.kind == WorkloadKind::kPipeline) check_pipeline(rules);
  const Workload::Federated& federated = scenario.workload.federated;
  if (scenario.workload.kind == WorkloadKind::kFederated)
    check_clients(rules, "/workload/federated", federated.sample, federated.drop_out,
                  federated.deadline, "flow, packet or emulator");
  if (scenario.workload.collective == "gossip") check_gossip(rules);
  if (scenario.workload.kind == WorkloadKind::kRecording) check_recording(rules);
}

}  // namespace gradwire::scenarios
