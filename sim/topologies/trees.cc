// Switched trees: two tiers, fat tree.
#include "sim/topologies/parts.h"

namespace gradwire::sim {

Cluster two_tier(const TwoTierPlan& plan, const ServerPlan& server) {
  if (plan.racks < 1 || plan.spines < 1 || plan.racks > plan.workers) {
    refuse_topology("a two-tier network",
                    "it needs a spine and from 1 to as many racks as workers; it has " +
                        std::to_string(plan.spines) + " spines and " + std::to_string(plan.racks) +
                        " racks for " + std::to_string(plan.workers) + " workers");
  }
  Cluster cluster;
  add_hosts(cluster, plan.workers, server);
  const NodeId leaf = add_switches(cluster, "leaf", plan.racks);
  const NodeId spine = add_switches(cluster, "spine", plan.spines);
  for (std::int64_t w = 0; w < plan.workers; ++w) {
    const auto rack = static_cast<NodeId>(w * plan.racks / plan.workers);
    cluster.add_link(static_cast<NodeId>(w), leaf + rack, plan.link);
  }
  for (int s = 0; s < server.hosts(); ++s)
    cluster.add_link(plan.workers + s, spine + s % plan.spines, server.link.value_or(plan.link));
  for (int r = 0; r < plan.racks; ++r) {
    for (int s = 0; s < plan.spines; ++s) cluster.add_link(leaf + r, spine + s, plan.uplink);
  }
  cluster.set_routing({Routing::Kind::kEcmp});
  cluster.finish(server.hosts());
  return cluster;
}

std::int64_t fat_tree_room(int k) {
  return static_cast<std::int64_t>(k) * k * k / 4;
}

Cluster fat_tree(const FatTreePlan& plan, const ServerPlan& server) {
  if (plan.k < 2 || plan.k % 2 != 0) {
    refuse_topology("a fat tree", "its switches have " + std::to_string(plan.k) +
                                      " ports, and need an even number of 2 or more");
  }
  Cluster cluster;
  const int hosts = add_hosts(cluster, plan.workers, server);
  if (hosts > fat_tree_room(plan.k)) {
    refuse_topology("a fat tree", "switches of " + std::to_string(plan.k) +
                                      " ports give room for " +
                                      std::to_string(fat_tree_room(plan.k)) + " hosts, not for " +
                                      std::to_string(hosts));
  }
  const int half = plan.k / 2;
  const NodeId edge = add_switches(cluster, "edge", plan.k * half);
  const NodeId aggregation = add_switches(cluster, "aggregation", plan.k * half);
  const NodeId core = add_switches(cluster, "core", half * half);
  for (int h = 0; h < hosts; ++h) {
    const bool is_server = h >= plan.workers;
    cluster.add_link(h, edge + h / half, is_server ? server.link.value_or(plan.link) : plan.link);
  }
  for (int pod = 0; pod < plan.k; ++pod) {
    for (int e = 0; e < half; ++e) {
      for (int a = 0; a < half; ++a) {
        cluster.add_link(edge + pod * half + e, aggregation + pod * half + a, plan.uplink);
      }
    }
    for (int a = 0; a < half; ++a) {
      for (int c = 0; c < half; ++c) {
        cluster.add_link(aggregation + pod * half + a, core + a * half + c, plan.uplink);
      }
    }
  }
  cluster.set_routing({Routing::Kind::kEcmp});
  cluster.finish(server.hosts());
  return cluster;
}

}  // namespace gradwire::sim
