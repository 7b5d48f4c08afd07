// Groups of hosts behind links of their own: dumb-bell, machines with GPUs, sites.
#include "sim/cluster/topologies/parts.h"

namespace gradwire::sim {

Cluster dumb_bell(const DumbBellPlan& plan, const ServerPlan& server) {
  Cluster cluster;
  const int hosts = add_hosts(cluster, plan.workers, server);
  if (plan.left < 1 || plan.left >= hosts || plan.left > plan.workers) {
    refuse_topology("a dumb-bell", "with " + std::to_string(plan.left) + " of " +
                                       std::to_string(hosts) +
                                       " hosts on the left, one side is empty");
  }
  const NodeId left = cluster.add_switch("left");
  const NodeId right = cluster.add_switch("right");
  for (int w = 0; w < plan.workers; ++w) {
    cluster.add_link(w, w < plan.left ? left : right, plan.link);
  }
  for (int s = 0; s < server.hosts(); ++s)
    cluster.add_link(plan.workers + s, right, server.link.value_or(plan.link));
  cluster.add_link(left, right, plan.bottleneck);
  cluster.finish(server.hosts());
  return cluster;
}

Cluster gpu_nodes(const GpuNodesPlan& plan, const ServerPlan& server) {
  if (plan.per_node < 1 || plan.adapters < 1) {
    refuse_topology("machines with GPUs", "each needs a GPU and a network adapter");
  }
  Cluster cluster;
  add_hosts(cluster, plan.workers, server);
  const int nodes = (plan.workers + plan.per_node - 1) / plan.per_node;
  const NodeId node = add_switches(cluster, "node", nodes);
  const NodeId network = cluster.add_switch("network");
  for (int w = 0; w < plan.workers; ++w) {
    cluster.add_link(w, node + w / plan.per_node, plan.intra_link);
  }
  for (int s = 0; s < server.hosts(); ++s)
    cluster.add_link(plan.workers + s, network, server.link.value_or(plan.link));
  for (int m = 0; m < nodes; ++m) {
    for (int a = 0; a < plan.adapters; ++a) cluster.add_link(node + m, network, plan.link);
  }
  cluster.set_routing({Routing::Kind::kEcmp});
  cluster.finish(server.hosts());
  return cluster;
}

Cluster wan(const WanPlan& plan, const ServerPlan& server) {
  int workers = 0;
  for (const WanPlan::Site& site : plan.sites) {
    if (site.workers < 0) refuse_topology("site " + site.name, "it has fewer than no workers");
    workers += site.workers;
  }
  Cluster cluster;
  add_hosts(cluster, workers, server);
  const auto first = static_cast<NodeId>(cluster.node_names().size());
  NodeId next = 0;
  for (const WanPlan::Site& site : plan.sites) {
    const NodeId router = cluster.add_switch(site.name);
    for (int w = 0; w < site.workers; ++w) cluster.add_link(next++, router, plan.link);
  }
  for (int s = 0; s < server.hosts(); ++s)
    cluster.add_link(workers + s, first, server.link.value_or(plan.link));
  const auto sites = static_cast<int>(plan.sites.size());
  for (const WanPlan::SiteLink& each : plan.site_links) {
    if (each.a < 0 || each.a >= sites || each.b < 0 || each.b >= sites) {
      refuse_topology("a link between sites", "it names a site that does not exist");
    }
    cluster.add_link(first + each.a, first + each.b, each.spec);
  }
  cluster.finish(server.hosts());
  return cluster;
}

}  // namespace gradwire::sim
