#include "sim/cluster/cluster.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gradwire::sim {
namespace {

std::string link_subject(const std::string& a, const std::string& b) {
  return "link " + a + " - " + b;
}

}  // namespace

Cluster Cluster::star(int workers, const LinkSpec& link, int servers,
                      const std::optional<LinkSpec>& server_link) {
  Cluster cluster;
  for (int w = 0; w < workers; ++w) cluster.add_host("worker" + std::to_string(w));
  cluster.add_servers(servers);
  const NodeId hub = cluster.add_switch("switch");
  for (int w = 0; w < workers; ++w) cluster.add_link(w, hub, link);
  for (int s = 0; s < servers; ++s) cluster.add_link(workers + s, hub, server_link.value_or(link));
  cluster.finish(servers);
  return cluster;
}

NodeId Cluster::add_host(std::string name) {
  const auto node = static_cast<NodeId>(names_.size());
  names_.push_back(std::move(name));
  is_host_.push_back(true);
  hosts_.push_back(node);
  return node;
}

void Cluster::add_servers(int count) {
  for (int s = 0; s < count; ++s) add_host(count == 1 ? "server" : "server" + std::to_string(s));
}

NodeId Cluster::add_switch(std::string name) {
  const auto node = static_cast<NodeId>(names_.size());
  names_.push_back(std::move(name));
  is_host_.push_back(false);
  return node;
}

void Cluster::add_link(NodeId a, NodeId b, const LinkSpec& spec) {
  const auto known = [&](NodeId n) { return n >= 0 && n < static_cast<NodeId>(names_.size()); };
  if (!known(a) || !known(b)) {
    throw SimError("add", "link " + std::to_string(a) + " - " + std::to_string(b),
                   "it names a node that does not exist", "add its hosts and switches first");
  }
  if (a == b) throw SimError("add", link_subject(name(a), name(b)), "both ends are the same node");
  check_link(link_subject(name(a), name(b)), spec);
  links_.push_back({a, b, spec, -1});
}

void Cluster::add_cell(Cell cell) {
  check_cell(cell, names_);
  const auto number = static_cast<std::int32_t>(cells_.size());
  for (const Station& station : cell.stations) {
    if (!is_host(station.node)) {
      throw SimError("use", "station " + name(station.node), "it is a switch",
                     "only hosts are stations");
    }
    add_link(station.node, cell.base, station_link(cell, station, name(station.node)));
    links_.back().cell = number;
  }
  cells_.push_back(std::move(cell));
}

void Cluster::change_link(int link, const LinkSpec& spec) {
  Link& changed = links_[static_cast<std::size_t>(link)];
  GRADWIRE_ASSERT(changed.cell < 0);
  check_link(link_subject(name(changed.a), name(changed.b)), spec);
  changed.spec = spec;
}

namespace {

/// Both sets of outages, ascending and apart.
std::vector<Outage> joined(std::vector<Outage> outages, const HostPlan& plan) {
  for (const HostPlan::Absence& each : plan.absences) outages.push_back({each.begin, each.end});
  std::sort(outages.begin(), outages.end(),
            [](const Outage& a, const Outage& b) { return a.begin < b.begin; });
  std::vector<Outage> all;
  for (const Outage& each : outages) {
    if (!all.empty() && each.begin <= all.back().end) {
      all.back().end = std::max(all.back().end, each.end);
    } else {
      all.push_back(each);
    }
  }
  return all;
}

}  // namespace

void Cluster::stand_for(const Cluster& whole) {
  represented_hosts_ = whole.represented_hosts();
  represented_nodes_ = whole.represented_nodes();
}

void Cluster::set_host_plan(int host, const HostPlan& plan) {
  const NodeId node = host_node(host);
  check_host_plan("host " + name(node), plan);
  host_plans_.resize(static_cast<std::size_t>(host_count()));
  host_plans_[static_cast<std::size_t>(host)] = plan;
  if (plan.absences.empty()) return;
  for (Link& link : links_) {
    if (link.a == node || link.b == node) link.spec.outages = joined(link.spec.outages, plan);
  }
}

void Cluster::add_background(const BackgroundTraffic& traffic) {
  const auto known = [&](int host) { return host >= 0 && host < host_count(); };
  const auto refuse = [](std::string_view reason) {
    throw SimError("use", "background traffic", reason);
  };
  if (!known(traffic.source) || !known(traffic.destination)) refuse("it names no host");
  if (traffic.source == traffic.destination) refuse("a host sends to itself");
  if (!(traffic.rate.value() > 0) || traffic.size.count() <= 0) refuse("it sends nothing");
  if (!(traffic.on > Seconds(0)) || !(traffic.off > Seconds(0))) refuse("a time is not positive");
  background_.push_back(traffic);
}

void Cluster::finish(int servers) {
  servers_ = servers;
  workers_ = host_count() - servers;
  if (workers_ < 1) throw SimError("build", "cluster", "it has no worker", "add at least one host");
  check_connected();
  number_inner_nodes();
  if (routing_.kind == Routing::Kind::kTorus) {
    check_torus();
  } else {
    join_inner_nodes();
    measure_distances();
  }
  resolve_fixed_routes();
}

void Cluster::check_connected() const {
  std::vector<NodeId> root(names_.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](NodeId n) {
    while (root[static_cast<std::size_t>(n)] != n) {
      auto& up = root[static_cast<std::size_t>(n)];
      up = root[static_cast<std::size_t>(up)];
      n = up;
    }
    return n;
  };
  for (const Link& link : links_) root[static_cast<std::size_t>(find(link.a))] = find(link.b);
  for (const NodeId host : hosts_) {
    if (find(host) == find(hosts_[0])) continue;
    throw SimError("route", "from " + name(hosts_[0]) + " to " + name(host), "no path joins them",
                   "add a link between their parts of the network");
  }
}

void Cluster::number_inner_nodes() {
  std::vector<int> degree(names_.size(), 0);
  only_channel_.assign(names_.size(), -1);
  for (std::size_t l = 0; l < links_.size(); ++l) {
    ++degree[static_cast<std::size_t>(links_[l].a)];
    ++degree[static_cast<std::size_t>(links_[l].b)];
    only_channel_[static_cast<std::size_t>(links_[l].a)] = static_cast<ChannelId>(2 * l);
    only_channel_[static_cast<std::size_t>(links_[l].b)] = static_cast<ChannelId>(2 * l + 1);
  }
  row_.assign(names_.size(), -1);
  inner_count_ = 0;
  for (std::size_t n = 0; n < names_.size(); ++n) {
    if (degree[n] >= 2) row_[n] = inner_count_++;
  }
}

NodeId Cluster::far_end(ChannelId channel) const {
  const Link& link = links_[static_cast<std::size_t>(channel / 2)];
  return channel % 2 == 0 ? link.b : link.a;
}

}  // namespace gradwire::sim
