#include "sim/session/session_network.h"

#include <utility>

#include "sim/session/background.h"
#include "sim/session/parallel_connections.h"

namespace gradwire::sim {

std::unique_ptr<Network> session_network(std::unique_ptr<Network> network, const Cluster& cluster,
                                         const ExecutorOptions& options) {
  if (options.transport.connections > 1)
    network =
        std::make_unique<ParallelConnections>(std::move(network), options.transport.connections);
  const auto traffic = cluster.background();
  if (!traffic.empty())
    network = std::make_unique<BackgroundNetwork>(
        std::move(network), std::vector<BackgroundTraffic>(traffic.begin(), traffic.end()),
        options.seed);
  return network;
}

}  // namespace gradwire::sim
