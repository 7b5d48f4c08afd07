#pragma once
#include <memory>

#include "sim/cluster/cluster.h"
#include "sim/session/executor.h"
#include "sim/session/network.h"

namespace gradwire::sim {

/// A network as a session uses it: with as many connections a pair as the transport has, and with
/// the cluster's background traffic beside them.
std::unique_ptr<Network> session_network(std::unique_ptr<Network> network, const Cluster& cluster,
                                         const ExecutorOptions& options);

}  // namespace gradwire::sim
