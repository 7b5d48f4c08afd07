#include <set>

#include "results/report/data.h"
#include "results/runs/scenario_view.h"

/// What has to be true for the report's figures to be, said for the executors that were used.
namespace gradwire::results {
namespace {

std::string flow_sentence(const std::string& detail) {
  if (detail == "per-packet")
    return "Network times are simulated by the flow engine packet by packet: each goes through the "
           "queues of all links of its way.";
  if (detail == "mixed")
    return "Network times are simulated by the flow engine of an earlier version, in mixed detail: "
           "each connection is a fluid that shares links max-min fairly, a model of TCP's window, "
           "or packets in a queue.";
  return "Network times are simulated by the flow engine as a fluid: links are shared max-min "
         "fairly, with TCP's start-up and its response to loss as a model of each connection's "
         "window; queues are not simulated.";
}

std::string executor_sentence(const RunHeader& header) {
  const std::string& executor = header.executor;
  if (executor == "flow") return flow_sentence(header.detail);
  if (executor == "packet")
    return "Network times are simulated packet by packet by ns-3, with its TCP.";
  if (executor == "emulator")
    return "Network times were taken from real processes that exchanged the bytes over real "
           "sockets through emulated links.";
  if (executor == "model")
    return "Network times are predicted from latency and bandwidth along the critical path: "
           "contention between transfers is left out, so true times can only be longer.";
  return "Network times come from the executor \"" + executor + "\".";
}

std::string compute_sentence(const RunHeader& header) {
  if (header.compute_provenance == "measured")
    return "Compute and codec times were measured on " + header.device +
           " with one worker alone, and replayed for all workers: other machines have others.";
  if (header.compute_provenance.empty() || header.compute_provenance == "none")
    return "No computation is part of these runs: their times are those of the network alone.";
  if (header.compute_provenance == "given")
    return "Computation takes as long as the scenario says; nothing was measured.";
  return "Compute and codec times come from the profile \"" + header.device +
         "\"; they were not measured in these runs.";
}

}  // namespace

std::vector<std::string> assumptions_of(const ReportData& data) {
  std::vector<std::string> list;
  std::set<std::string> seen;
  const auto add = [&](const std::string& sentence) {
    if (seen.insert(sentence).second) list.push_back(sentence);
  };
  bool trained = false, single = false;
  for (const ReportGroup& group : data.groups) {
    const RunHeader& header = group.group.runs.front().header;
    add(executor_sentence(header));
    add(compute_sentence(header));
    if (!group.choice.empty()) add(group.choice);
    for (const std::string& note : group.notes) add(group.name + ": " + note + ".");
    if (group.loss_of_gradients)
      add("Over udp-lossy nothing is sent again: each worker applies what has reached it of the "
          "gradients to weights of its own. Accuracy is that of worker 0.");
    trained = trained || !group.accuracy.mean.empty();
    single = single || group.group.runs.size() == 1;
  }
  add("Bytes are those that the encoders produced; \"on the wire\" adds the transport's headers "
      "and "
      "what was sent again.");
  if (trained)
    add("Loss and accuracy come from really training the model on the decoded gradients, not from "
        "a "
        "formula. Accuracy is taken on samples that were not trained on.");
  if (single)
    add("Where only one seed was run, no spread is known and small differences mean nothing.");
  else
    add("\u00b1 is one sample standard deviation over the seeds; it does not cover other data, "
        "models or machines.");
  return list;
}

}  // namespace gradwire::results
