#include "sim/executors.h"

#include "sim/flow/flow_network.h"
#include "sim/folding/find_columns.h"
#include "sim/folding/folding_executor.h"
#include "sim/model/alpha_beta_network.h"
#include "sim/model/closed_form.h"
#include "sim/session/session_executor.h"
#include "sim/session/session_network.h"
#ifdef GRADWIRE_SIM_HAS_PACKET
#include "sim/packet/packet_executor.h"
#endif

namespace gradwire::sim {
namespace {

std::unique_ptr<Executor> make_whole_flow(std::unique_ptr<const Cluster> own,
                                          const ExecutorOptions& options) {
  auto network = session_network(
      std::make_unique<FlowNetwork>(*own, options.transport, options.seed, options.detail), *own,
      options);
  return std::make_unique<SessionExecutor>(
      SessionExecutor::Parts{"flow", "simulated", std::move(own), std::move(network), nullptr},
      options);
}

std::unique_ptr<Executor> make_flow(const Cluster& cluster, const ExecutorOptions& options) {
  auto own = std::make_unique<const Cluster>(cluster);
  if (!options.fold || !may_fold(cluster, options.transport))
    return make_whole_flow(std::move(own), options);
  return std::make_unique<FoldingExecutor>(std::move(own), options.transport,
                                           [options](std::unique_ptr<const Cluster> simulated) {
                                             return make_whole_flow(std::move(simulated), options);
                                           });
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
