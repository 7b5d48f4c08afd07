#include "sim/executor.h"

#include "sim/background.h"
#include "sim/flow/flow_network.h"
#include "sim/model/alpha_beta_network.h"
#include "sim/model/closed_form.h"
#include "sim/session_executor.h"
#ifdef GRADWIRE_SIM_HAS_PACKET
#include "sim/packet/packet_executor.h"
#endif

namespace gradwire::sim {
namespace {

std::unique_ptr<Executor> make_flow(const Cluster& cluster, const ExecutorOptions& options) {
  auto own = std::make_unique<const Cluster>(cluster);
  std::unique_ptr<Network> network = std::make_unique<FlowNetwork>(
      *own, options.transport, options.seed, options.losses_by_channel);
  if (!own->background().empty()) {
    network = std::make_unique<BackgroundNetwork>(
        std::move(network),
        std::vector<BackgroundTraffic>(own->background().begin(), own->background().end()),
        options.seed);
  }
  return std::make_unique<SessionExecutor>(
      SessionExecutor::Parts{"flow", "simulated", std::move(own), std::move(network), nullptr},
      options);
}

std::unique_ptr<Executor> make_model(const Cluster& cluster, const ExecutorOptions& options) {
  auto own = std::make_unique<const Cluster>(cluster);
  auto network = std::make_unique<AlphaBetaNetwork>(*own, options.transport);
  auto closed_form = std::make_unique<ClosedForm>(*own, options.transport);
  return std::make_unique<SessionExecutor>(
      SessionExecutor::Parts{"model", "predicted", std::move(own), std::move(network),
                             std::move(closed_form)},
      options);
}

}  // namespace

void Network::start_beside(TransferId, int, int, Bytes) {
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

std::unique_ptr<Executor> make_executor(std::string_view name, const Cluster& cluster,
                                        const ExecutorOptions& options) {
  if (name == "flow") return make_flow(cluster, options);
  if (name == "model") return make_model(cluster, options);
  if (name == "packet") {
#ifdef GRADWIRE_SIM_HAS_PACKET
    return make_packet_executor(cluster, options);
#else
    throw Error(ErrorKind::kCapability, "start", "executor packet", "it was not built",
                "build with ns-3 3.44, or use --executor flow");
#endif
  }
  throw Error(ErrorKind::kUsage, "start", "executor " + std::string(name), "there is no such one",
              "use model, flow or packet");
}

}  // namespace gradwire::sim
