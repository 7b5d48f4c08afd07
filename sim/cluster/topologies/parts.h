#pragma once
#include "sim/cluster/topologies/topologies.h"

/// What the generators share.
namespace gradwire::sim {

/// Adds worker0 ... and the servers; they are nodes and hosts 0, 1, ... Returns how many.
inline int add_hosts(Cluster& cluster, int workers, const ServerPlan& server) {
  if (workers < 1) throw SimError("build", "a cluster", "it has no worker", "add at least one");
  for (int w = 0; w < workers; ++w) cluster.add_host("worker" + std::to_string(w));
  cluster.add_servers(server.hosts());
  return workers + server.hosts();
}

/// Switches NAME0, NAME1, ...; returns the first.
inline NodeId add_switches(Cluster& cluster, const std::string& name, int count) {
  const auto first = static_cast<NodeId>(cluster.node_names().size());
  for (int i = 0; i < count; ++i) cluster.add_switch(name + std::to_string(i));
  return first;
}

[[noreturn]] inline void refuse_topology(std::string_view what, const std::string& reason) {
  throw SimError("build", what, reason);
}

}  // namespace gradwire::sim
