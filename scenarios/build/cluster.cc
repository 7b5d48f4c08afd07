#include <map>

#include "scenarios/scenario.h"
#include "sim/cluster/topologies/topologies.h"
#include "sim/flow/choose_detail.h"

namespace gradwire::scenarios {
namespace {

int site_index(const NetworkPlan& network, const std::string& name) {
  for (std::size_t i = 0; i < network.sites.size(); ++i)
    if (network.sites[i].name == name) return static_cast<int>(i);
  return -1;
}

sim::Cluster build_wan(const NetworkPlan& network, const sim::ServerPlan& server) {
  sim::WanPlan plan;
  plan.link = network.link;
  for (const NetworkPlan::Site& site : network.sites)
    plan.sites.push_back({site.name, site.workers});
  for (const NetworkPlan::ExplicitLink& link : network.site_links)
    plan.site_links.push_back(
        {site_index(network, link.a), site_index(network, link.b), link.spec});
  return sim::wan(plan, server);
}

sim::Cluster build_explicit(const NetworkPlan& network, int servers) {
  sim::Cluster cluster;
  std::map<std::string, sim::NodeId> nodes;
  for (const std::string& name : network.hosts) nodes[name] = cluster.add_host(name);
  for (const std::string& name : network.switches) nodes[name] = cluster.add_switch(name);
  for (const NetworkPlan::ExplicitLink& link : network.links)
    cluster.add_link(nodes.at(link.a), nodes.at(link.b), link.spec);
  for (const NetworkPlan::ExplicitRoute& written : network.routes) {
    // Hosts were added first: their nodes are their numbers.
    sim::FixedRoute route{nodes.at(written.from), nodes.at(written.to), {}};
    for (const std::string& name : written.via) route.via.push_back(nodes.at(name));
    cluster.add_route(route);
  }
  cluster.finish(servers);
  return cluster;
}

sim::Cluster build_cell(const Scenario& scenario, const sim::ServerPlan& server) {
  const NetworkPlan& network = scenario.network;
  sim::RadioCellPlan plan;
  plan.workers = scenario.cluster.workers;
  plan.kind = network.topology == "wifi-cell" ? sim::Cell::Kind::kWifi : sim::Cell::Kind::kLte;
  plan.width = network.cell.width * 1e6;
  plan.exponent = network.cell.exponent;
  if (!network.cell.places.empty()) plan.places = network.cell.places;
  plan.wire = network.link;
  return sim::radio_cell(plan, server);
}

/// Worker w's own link is link w wherever workers can have traces.
void follow_traces(sim::Cluster& cluster, const NetworkPlan::Traces& traces) {
  if (traces.up.empty() && traces.down.empty()) return;
  const auto pick = [](const auto& list, int worker, sim::RateSchedulePtr& schedule) {
    if (!list.empty()) schedule = list[static_cast<std::size_t>(worker) % list.size()];
  };
  for (int w = 0; w < cluster.workers(); ++w) {
    sim::LinkSpec spec = cluster.links()[static_cast<std::size_t>(w)].spec;
    pick(traces.up, w, spec.schedule);
    pick(traces.down, w, spec.schedule_back);
    spec.schedule_offset = traces.offset * w;
    cluster.change_link(w, spec);
  }
}

/// Of worker w: its absences in the order in which they are listed.
void behave(sim::Cluster& cluster, const ClusterPlan& plan) {
  std::map<int, sim::HostPlan> plans;
  for (int w = 0; plan.spread > 0 && w < cluster.workers(); ++w) plans[w].spread = plan.spread;
  for (const ClusterPlan::Absence& absence : plan.absences)
    plans[absence.worker].absences.push_back(absence.time);
  for (auto& [worker, own] : plans) {
    own.spread = plan.spread;
    cluster.set_host_plan(worker, own);
  }
}

sim::TwoTierPlan two_tier_plan(const Scenario& scenario) {
  const NetworkPlan& network = scenario.network;
  return {scenario.cluster.workers, network.racks, network.spines, network.link,
          network.uplink.value_or(network.link)};
}

sim::Cluster build_aggregating(const Scenario& scenario) {
  aggregation_of(scenario);  // refuses what has no tree
  return scenario.network.topology == "star"
             ? sim::aggregating_star(scenario.cluster.workers, scenario.network.link)
             : sim::aggregating_two_tier(two_tier_plan(scenario));
}

sim::Cluster build_wired(const Scenario& scenario, const sim::ServerPlan& server) {
  if (collective_of(scenario) == "in-network") return build_aggregating(scenario);
  const NetworkPlan& network = scenario.network;
  const int workers = scenario.cluster.workers;
  const sim::LinkSpec uplink = network.uplink.value_or(network.link);
  const std::string& topology = network.topology;
  if (topology == "two-tier") return sim::two_tier(two_tier_plan(scenario), server);
  if (topology == "fat-tree")
    return sim::fat_tree({workers, network.k, network.link, uplink}, server);
  if (topology == "ring") return sim::host_ring(workers, network.link, server);
  if (topology == "torus")
    return sim::torus(workers, network.columns, network.rows, network.link, server);
  if (topology == "dumb-bell")
    return sim::dumb_bell({workers, network.left, network.link, network.bottleneck}, server);
  if (topology == "gpu-nodes")
    return sim::gpu_nodes(
        {workers, network.gpus_per_node, network.adapters, network.intra_link, network.link},
        server);
  if (topology == "wan") return build_wan(network, server);
  if (topology == "explicit") return build_explicit(network, server.hosts());
  return sim::Cluster::star(workers, network.link, server.hosts(), network.server_link);
}

}  // namespace

std::string collective_of(const Scenario& scenario) {
  switch (scenario.workload.kind) {
    case WorkloadKind::kTraining:
    case WorkloadKind::kProfile:
      return scenario.exchange.collective;
    case WorkloadKind::kCollective: {
      const std::string& name = scenario.workload.collective;
      return name == "in-network-all-reduce" ? "in-network" : name;
    }
    case WorkloadKind::kTransfers:
    case WorkloadKind::kPipeline:
    case WorkloadKind::kFederated:
    case WorkloadKind::kRecording:
      break;
  }
  return "";
}

int server_count(const Scenario& scenario) {
  if (scenario.workload.kind == WorkloadKind::kFederated) return 1;
  const std::string collective = collective_of(scenario);
  if (collective == "in-network")
    return aggregation_of(scenario).aggregators(scenario.cluster.workers);
  if (collective != "parameter-server") return 0;
  return scenario.workload.kind == WorkloadKind::kCollective ? scenario.workload.shards
                                                             : scenario.exchange.shards;
}

sim::Aggregation aggregation_of(const Scenario& scenario) {
  const std::string& topology = scenario.network.topology;
  if (topology == "star") return sim::star_aggregation(scenario.cluster.workers);
  if (topology == "two-tier") return sim::two_tier_aggregation(two_tier_plan(scenario));
  throw sim::SimError("add up in the switches of", "a " + topology + " network",
                      "they are not known to form a tree",
                      "use topology star or two-tier, or another collective");
}

sim::GossipEdges gossip_edges(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  const int workers = scenario.cluster.workers;
  if (workload.graph == "torus") return sim::gossip_torus(workers);
  if (workload.graph == "complete") return sim::gossip_complete(workers);
  if (workload.graph == "random-regular")
    return sim::gossip_random_regular(workers, workload.degree, scenario.seed);
  if (workload.graph == "ring") return sim::gossip_ring(workers);
  sim::check_gossip_edges(workers, workload.edges);
  return workload.edges;
}

namespace {

std::vector<sim::GivenEdge> given_edges(const ScheduleChoice& schedule) {
  std::vector<sim::GivenEdge> edges = schedule.edges;
  if (!schedule.directed)
    for (const sim::GivenEdge& edge : schedule.edges)
      edges.push_back({edge.to, edge.from, edge.weight});
  return edges;
}

}  // namespace

sim::Mixing gossip_mixing(const Scenario& scenario) {
  const ScheduleChoice& schedule = scenario.schedule;
  const int n = scenario.cluster.workers;
  const auto mixing_of = [&](const std::vector<sim::GivenEdge>& edges) {
    return sim::make_mixing(n, edges);
  };
  if (schedule.graph == "explicit") return mixing_of(given_edges(schedule));
  if (n == 1) return mixing_of({});
  if (schedule.graph == "directed-ring") return mixing_of(sim::directed_ring(n));
  if (schedule.graph == "exponential") return mixing_of(sim::directed_exponential(n));
  if (schedule.graph == "torus") return mixing_of(sim::both_ways(sim::gossip_torus(n)));
  if (schedule.graph == "complete") return mixing_of(sim::both_ways(sim::gossip_complete(n)));
  if (schedule.graph == "random-regular")
    return mixing_of(sim::both_ways(sim::gossip_random_regular(n, schedule.degree, scenario.seed)));
  return mixing_of(sim::both_ways(sim::gossip_ring(n)));
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
  const int servers = server_count(scenario);
  for (int s = 0; s < servers; ++s)
    if (name == (servers == 1 ? "server" : "server" + std::to_string(s)))
      return scenario.cluster.workers + s;
  return -1;
}

bool is_radio(const Scenario& scenario) {
  const std::string& topology = scenario.network.topology;
  return topology == "wifi-cell" || topology == "lte-cell";
}

std::optional<sim::Detail> detail_of(const Scenario& scenario) {
  const NetworkPlan& network = scenario.network;
  return sim::choose_detail(
      sim::detail_question(build_cluster(scenario), network.transport, network.detail));
}

sim::Detail detail_of(const Scenario& scenario, const sim::GraphTemplate& first,
                      std::span<const Bytes> bytes) {
  const NetworkPlan& network = scenario.network;
  sim::FirstExchange exchange;
  exchange.add(first, bytes);
  return sim::choose_detail(build_cluster(scenario), network.transport, network.detail, exchange);
}

sim::Cluster build_cluster(const Scenario& scenario) {
  const int servers = server_count(scenario);
  const sim::ServerPlan server{servers > 0, servers, scenario.network.server_link};
  sim::Cluster cluster =
      is_radio(scenario) ? build_cell(scenario, server) : build_wired(scenario, server);
  follow_traces(cluster, scenario.network.traces);
  behave(cluster, scenario.cluster);
  for (NetworkPlan::Background source : scenario.network.background) {
    source.traffic.source = host_index(scenario, source.from);
    source.traffic.destination = host_index(scenario, source.to);
    cluster.add_background(source.traffic);
  }
  return cluster;
}

sim::Cluster build_clean_cluster(const Scenario& scenario) {
  sim::Cluster cluster = build_cluster(scenario);
  for (std::size_t l = 0; l < cluster.links().size(); ++l) {
    if (cluster.links()[l].cell >= 0) continue;
    sim::LinkSpec spec = cluster.links()[l].spec;
    spec.loss = 0;
    spec.burst = {};
    spec.jitter = Seconds(0);
    spec.outages.clear();
    cluster.change_link(static_cast<int>(l), spec);
  }
  return cluster;
}

}  // namespace gradwire::scenarios
