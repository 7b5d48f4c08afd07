#include "sim/session/executor.h"
#include "sim/sim_error.h"

namespace gradwire::sim {

void Network::start_beside(TransferId, int, int, int, Bytes) {
  throw SimError("start", "background traffic", "this executor's network carries none",
                 "use --executor flow");
}

std::string Executor::describe_unfinished(GraphId graph) const {
  const Timeline& timeline = this->timeline(graph);
  for (std::size_t op = 0; op < timeline.ops.size(); ++op) {
    if (timeline.ops[op].end.value() >= 0) continue;
    return "operation " + std::to_string(op) +
           (timeline.ops[op].start.value() >= 0 ? " has not ended" : " has never started");
  }
  return "every operation has ended";
}

const Timeline& run_to_end(Executor& executor, GraphId graph) {
  std::vector<Event> events;
  bool failed = false;
  for (;;) {
    events.clear();
    const bool more = executor.advance(kForever, events);
    for (const Event& event : events) {
      if (event.op.graph != graph) continue;
      if (event.kind == EventKind::kGraphEnded) return executor.timeline(graph);
      failed = failed || event.kind == EventKind::kTransferFailed;
    }
    if (more || !events.empty()) continue;
    const Timeline& timeline = executor.timeline(graph);
    bool ended = true;
    for (const OpRecord& op : timeline.ops) ended = ended && op.end.value() >= 0;
    if (ended) return timeline;  // before this call
    throw SimError("finish", "graph " + std::to_string(graph),
                   (failed ? "a transfer failed; " : "nothing is left to happen; ") +
                       executor.describe_unfinished(graph));
  }
}

}  // namespace gradwire::sim
