// Switched trees: two tiers, fat tree.
#include "sim/cluster/topologies/parts.h"

namespace gradwire::sim {

namespace {

void check_two_tier(const TwoTierPlan& plan) {
  if (plan.racks < 1 || plan.spines < 1 || plan.racks > plan.workers) {
    refuse_topology("a two-tier network",
                    "it needs a spine and from 1 to as many racks as workers; it has " +
                        std::to_string(plan.spines) + " spines and " + std::to_string(plan.racks) +
                        " racks for " + std::to_string(plan.workers) + " workers");
  }
}

/// Links of workers and switches; gives the first leaf and the first spine.
std::pair<NodeId, NodeId> add_tiers(Cluster& cluster, const TwoTierPlan& plan) {
  const NodeId leaf = add_switches(cluster, "leaf", plan.racks);
  const NodeId spine = add_switches(cluster, "spine", plan.spines);
  for (std::int64_t w = 0; w < plan.workers; ++w) {
    const auto rack = static_cast<NodeId>(w * plan.racks / plan.workers);
    cluster.add_link(static_cast<NodeId>(w), leaf + rack, plan.link);
  }
  return {leaf, spine};
}

void add_uplinks(Cluster& cluster, const TwoTierPlan& plan, NodeId leaf, NodeId spine) {
  for (int r = 0; r < plan.racks; ++r) {
    for (int s = 0; s < plan.spines; ++s) cluster.add_link(leaf + r, spine + s, plan.uplink);
  }
  cluster.set_routing({Routing::Kind::kEcmp});
}

/// As fast as so many ports of that link.
LinkSpec backplane(double ports, const LinkSpec& link) {
  LinkSpec spec;
  spec.rate = BitsPerSecond(ports * link.rate.value());
  spec.delay = Seconds(0);
  return spec;
}

void add_aggregators(Cluster& cluster, int workers, int count) {
  if (workers < 1) throw SimError("build", "a cluster", "it has no worker", "add at least one");
  for (int w = 0; w < workers; ++w) cluster.add_host("worker" + std::to_string(w));
  for (int a = 0; a < count; ++a) cluster.add_host("aggregator" + std::to_string(a));
}

}  // namespace

Cluster two_tier(const TwoTierPlan& plan, const ServerPlan& server) {
  check_two_tier(plan);
  Cluster cluster;
  add_hosts(cluster, plan.workers, server);
  const auto [leaf, spine] = add_tiers(cluster, plan);
  for (int s = 0; s < server.hosts(); ++s)
    cluster.add_link(plan.workers + s, spine + s % plan.spines, server.link.value_or(plan.link));
  add_uplinks(cluster, plan, leaf, spine);
  cluster.finish(server.hosts());
  return cluster;
}

Aggregation star_aggregation(int workers) {
  Aggregation tree{std::vector<std::int32_t>(static_cast<std::size_t>(workers), workers)};
  tree.parent.push_back(-1);
  return tree;
}

Cluster aggregating_star(int workers, const LinkSpec& link) {
  Cluster cluster;
  add_aggregators(cluster, workers, 1);
  const NodeId hub = cluster.add_switch("switch");
  for (int w = 0; w < workers; ++w) cluster.add_link(w, hub, link);
  cluster.add_link(workers, hub, backplane(workers, link));
  cluster.finish(1);
  return cluster;
}

Aggregation two_tier_aggregation(const TwoTierPlan& plan) {
  check_two_tier(plan);
  Aggregation tree;
  for (std::int64_t w = 0; w < plan.workers; ++w)
    tree.parent.push_back(plan.workers + static_cast<std::int32_t>(w * plan.racks / plan.workers));
  if (plan.racks > 1)
    tree.parent.insert(tree.parent.end(), static_cast<std::size_t>(plan.racks),
                       plan.workers + plan.racks);
  tree.parent.push_back(-1);
  return tree;
}

Cluster aggregating_two_tier(const TwoTierPlan& plan) {
  const int count = two_tier_aggregation(plan).aggregators(plan.workers);
  Cluster cluster;
  add_aggregators(cluster, plan.workers, count);
  const auto [leaf, spine] = add_tiers(cluster, plan);
  for (int r = 0; r < plan.racks; ++r)
    cluster.add_link(plan.workers + r, leaf + r, backplane(plan.workers, plan.link));
  if (plan.racks > 1)
    cluster.add_link(plan.workers + plan.racks, spine, backplane(plan.racks, plan.uplink));
  add_uplinks(cluster, plan, leaf, spine);
  cluster.finish(count);
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
