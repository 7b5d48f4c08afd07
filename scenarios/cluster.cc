#include <map>

#include "scenarios/scenario.h"

namespace gradwire::scenarios {

bool needs_server(const Scenario& scenario) {
  switch (scenario.workload.kind) {
    case WorkloadKind::kTraining:
    case WorkloadKind::kProfile:
      return scenario.exchange.collective == "parameter-server";
    case WorkloadKind::kCollective:
      return scenario.workload.collective == "parameter-server";
    case WorkloadKind::kTransfers:
      return false;
  }
  return false;
}

int host_index(const Scenario& scenario, std::string_view name) {
  if (scenario.network.topology == "explicit") {
    const std::vector<std::string>& hosts = scenario.network.hosts;
    for (std::size_t i = 0; i < hosts.size(); ++i)
      if (hosts[i] == name) return static_cast<int>(i);
    return -1;
  }
  for (int worker = 0; worker < scenario.cluster.workers; ++worker)
    if (name == "worker" + std::to_string(worker)) return worker;
  return name == "server" && needs_server(scenario) ? scenario.cluster.workers : -1;
}

sim::Cluster build_cluster(const Scenario& scenario) {
  const NetworkPlan& network = scenario.network;
  const bool with_server = needs_server(scenario);
  if (network.topology == "star")
    return sim::Cluster::star(scenario.cluster.workers, network.link, with_server,
                              network.server_link);
  sim::Cluster cluster;
  std::map<std::string, sim::NodeId> nodes;
  for (const std::string& name : network.hosts) nodes[name] = cluster.add_host(name);
  for (const std::string& name : network.switches) nodes[name] = cluster.add_switch(name);
  for (const NetworkPlan::ExplicitLink& link : network.links)
    cluster.add_link(nodes.at(link.a), nodes.at(link.b), link.spec);
  cluster.finish(with_server);
  return cluster;
}

}  // namespace gradwire::scenarios
