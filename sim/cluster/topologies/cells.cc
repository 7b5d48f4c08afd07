// Workers around one radio base.
#include "sim/cluster/topologies/parts.h"

namespace gradwire::sim {

Cluster radio_cell(const RadioCellPlan& plan, const ServerPlan& server) {
  if (plan.places.empty()) refuse_topology("a radio cell", "no station has a place");
  Cluster cluster;
  add_hosts(cluster, plan.workers, server);
  Cell cell;
  cell.kind = plan.kind;
  cell.base = cluster.add_switch("base");
  cell.width = plan.width;
  cell.exponent = plan.exponent;
  for (int w = 0; w < plan.workers; ++w) {
    const auto& place = plan.places[static_cast<std::size_t>(w) % plan.places.size()];
    cell.stations.push_back({w, place.distance, place.speed});
  }
  const NodeId base = cell.base;
  cluster.add_cell(std::move(cell));
  for (int s = 0; s < server.hosts(); ++s)
    cluster.add_link(plan.workers + s, base, server.link.value_or(plan.wire));
  cluster.finish(server.hosts());
  return cluster;
}

}  // namespace gradwire::sim
