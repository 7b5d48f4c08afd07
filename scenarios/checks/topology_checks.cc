#include "scenarios/checks/topology_checks.h"

#include <algorithm>

#include "scenarios/document/pointer.h"
#include "sim/cluster/topologies/topologies.h"

namespace gradwire::scenarios {
namespace {

void check_names(const Rules& rules, const std::string& list, const std::vector<std::string>& added,
                 std::vector<std::string>& names) {
  for (std::size_t i = 0; i < added.size(); ++i) {
    if (std::find(names.begin(), names.end(), added[i]) != names.end())
      rules.refuse(child_pointer(list, i), "the name \"" + added[i] + "\" stands twice");
    names.push_back(added[i]);
  }
}

void check_end(const Rules& rules, const std::string& pointer, const std::string& name,
               const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end())
    rules.refuse(pointer, "there is no host or switch \"" + name + "\"",
                 "names of /network/hosts and /network/switches", nearest_name(name, names));
}

void check_route(const Rules& rules, std::size_t i, const std::vector<std::string>& names) {
  const NetworkPlan::ExplicitRoute& route = rules.scenario.network.routes[i];
  const std::string at = child_pointer("/network/routes", i);
  check_host(rules, at + "/from", route.from);
  check_host(rules, at + "/to", route.to);
  for (std::size_t v = 0; v < route.via.size(); ++v)
    check_end(rules, child_pointer(at + "/via", v), route.via[v], names);
}

void check_worker_count(const Rules& rules) {
  const int servers = server_count(rules.scenario);
  const int workers = static_cast<int>(rules.scenario.network.hosts.size()) - servers;
  if (workers < 1)
    rules.refuse("/network/hosts", "no host is left for a worker beside the parameter server");
  else if (rules.sound({"/cluster/workers"}) && rules.scenario.cluster.workers != workers)
    rules.refuse("/cluster/workers",
                 "the explicit topology has " + std::to_string(workers) + " worker hosts, not " +
                     std::to_string(rules.scenario.cluster.workers),
                 std::to_string(workers));
}

/// Where a generated topology says what it cannot have.
std::string size_pointer(const Rules& rules) {
  const std::string& topology = rules.scenario.network.topology;
  if (topology == "two-tier") return "/network/racks";
  if (topology == "fat-tree") return "/network/k";
  if (topology == "torus") return "/network/columns";
  if (topology == "dumb-bell") return "/network/left";
  if (topology == "wan") return "/network/site_links";
  if (topology == "wifi-cell" || topology == "lte-cell") return "/network/cell";
  return "/network";
}

}  // namespace

bool check_host(const Rules& rules, const std::string& pointer, const std::string& name) {
  if (host_index(rules.scenario, name) >= 0) return true;
  const bool numbered = rules.scenario.network.topology != "explicit";
  rules.refuse(pointer, "there is no host \"" + name + "\"",
               numbered ? "worker0 to worker" + std::to_string(rules.scenario.cluster.workers - 1)
                        : "names of /network/hosts",
               numbered ? "" : nearest_name(name, rules.scenario.network.hosts));
  return false;
}

void check_explicit(const Rules& rules) {
  if (!rules.sound({"/network", "/workload", "/exchange"})) return;
  if (collective_of(rules.scenario) == "in-network") return;  // refused
  const NetworkPlan& network = rules.scenario.network;
  const std::size_t before = rules.problems.all().size();
  std::vector<std::string> names;
  check_names(rules, "/network/hosts", network.hosts, names);
  check_names(rules, "/network/switches", network.switches, names);
  for (std::size_t i = 0; i < network.links.size(); ++i) {
    const std::string at = child_pointer("/network/links", i);
    check_end(rules, at + "/a", network.links[i].a, names);
    check_end(rules, at + "/b", network.links[i].b, names);
    if (network.links[i].a == network.links[i].b)
      rules.refuse(at + "/b", "a link joins a node to itself");
  }
  for (std::size_t i = 0; i < network.routes.size(); ++i) check_route(rules, i, names);
  check_worker_count(rules);
  if (rules.problems.all().size() != before) return;
  try {
    build_cluster(rules.scenario);
  } catch (const sim::SimError& error) {
    const bool route =
        std::string_view(error.what()).find("the route from") != std::string_view::npos;
    rules.refuse(route ? "/network/routes" : "/network/links", error.what());
  }
}

void check_sites(const Rules& rules) {
  if (!rules.sound({"/network", "/workload", "/exchange"})) return;
  const NetworkPlan& network = rules.scenario.network;
  std::vector<std::string> listed, names;
  int workers = 0;
  for (const NetworkPlan::Site& site : network.sites) {
    listed.push_back(site.name);
    workers += site.workers;
  }
  check_names(rules, "/network/sites", listed, names);
  for (std::size_t i = 0; i < network.site_links.size(); ++i) {
    const std::string at = child_pointer("/network/site_links", i);
    for (const auto& [end, name] :
         {std::pair("/a", network.site_links[i].a), std::pair("/b", network.site_links[i].b)})
      if (std::find(names.begin(), names.end(), name) == names.end())
        rules.refuse(at + end, "there is no site \"" + name + "\"", "names of /network/sites",
                     nearest_name(name, names));
    if (network.site_links[i].a == network.site_links[i].b)
      rules.refuse(at + "/b", "a link joins a site to itself");
  }
  if (rules.sound({"/cluster/workers"}) && rules.scenario.cluster.workers != workers)
    rules.refuse("/cluster/workers",
                 "the sites have " + std::to_string(workers) + " workers, not " +
                     std::to_string(rules.scenario.cluster.workers),
                 std::to_string(workers));
}

void check_size(const Rules& rules) {
  const std::string& topology = rules.scenario.network.topology;
  if (topology == "star" || topology == "explicit" || !rules.problems.empty()) return;
  try {
    build_cluster(rules.scenario);
  } catch (const sim::SimError& error) {
    rules.refuse(size_pointer(rules), error.what());
  }
}

}  // namespace gradwire::scenarios
