#include "gui/topology/topology_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

namespace gradwire::gui {
namespace {

using results::LinkSeries;

/// A row holds so many nodes; more stand in further rows of the tier.
constexpr std::size_t kInRow = 64;

/// Tiers by distance from the hosts: hosts 0, what joins hosts 1, what joins those 2.
void set_tiers(Topology& topology) {
  std::vector<std::vector<int>> neighbours(topology.nodes.size());
  for (const TopologyLink& link : topology.links) {
    neighbours[static_cast<std::size_t>(link.a)].push_back(link.b);
    neighbours[static_cast<std::size_t>(link.b)].push_back(link.a);
  }
  std::vector<int> front;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    topology.nodes[i].tier = topology.nodes[i].host ? 0 : -1;
    if (topology.nodes[i].host) front.push_back(static_cast<int>(i));
  }
  for (int tier = 1; !front.empty(); ++tier) {
    std::vector<int> next;
    for (const int node : front) {
      for (const int other : neighbours[static_cast<std::size_t>(node)]) {
        TopologyNode& there = topology.nodes[static_cast<std::size_t>(other)];
        if (there.tier >= 0) continue;
        there.tier = tier;
        next.push_back(other);
      }
    }
    front = std::move(next);
  }
  for (TopologyNode& node : topology.nodes) node.tier = std::max(node.tier, 0);
}

/// Hosts joined to hosts alone stand in a circle.
void place_in_circle(Topology& topology) {
  const double n = static_cast<double>(topology.nodes.size());
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / n;
    topology.nodes[i].x = 0.5 + 0.45 * std::sin(angle);
    topology.nodes[i].y = 0.5 - 0.45 * std::cos(angle);
  }
}

void place_in_tiers(Topology& topology) {
  std::map<int, std::vector<std::size_t>> tiers;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    tiers[topology.nodes[i].tier].push_back(i);
  }
  std::size_t rows = 0;
  for (const auto& [tier, nodes] : tiers) rows += (nodes.size() + kInRow - 1) / kInRow;
  std::size_t row = 0;  // from the bottom
  for (const auto& [tier, nodes] : tiers) {
    const std::size_t in_tier = (nodes.size() + kInRow - 1) / kInRow;
    const std::size_t wide = (nodes.size() + in_tier - 1) / in_tier;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::size_t line = i / wide, in_line = std::min(wide, nodes.size() - line * wide);
      TopologyNode& node = topology.nodes[nodes[i]];
      node.x = (static_cast<double>(i % wide) + 0.5) / static_cast<double>(in_line);
      node.y = 1 - (static_cast<double>(row + line) + 0.5) / static_cast<double>(rows);
    }
    row += in_tier;
  }
}

void place(Topology& topology) {
  const bool switches = std::any_of(topology.nodes.begin(), topology.nodes.end(),
                                    [](const TopologyNode& node) { return !node.host; });
  switches ? place_in_tiers(topology) : place_in_circle(topology);
}

/// A node a tier, and a link a pair of tiers.
Topology aggregated(const Topology& whole) {
  Topology result;
  result.aggregated = true;
  std::map<int, int> node_of;
  for (const TopologyNode& node : whole.nodes) {
    const auto [found, fresh] =
        node_of.try_emplace(node.tier, static_cast<int>(result.nodes.size()));
    if (fresh) {
      result.nodes.push_back({"", node.host, node.tier, 0, 0, 0});
    }
    ++result.nodes[static_cast<std::size_t>(found->second)].count;
  }
  for (TopologyNode& node : result.nodes) {
    node.name = std::to_string(node.count) + (node.host ? " hosts" : " switches");
    if (!node.host) node.name += " of tier " + std::to_string(node.tier);
  }
  std::map<std::pair<int, int>, std::size_t> bundle_of;
  for (const TopologyLink& link : whole.links) {
    int a = node_of[whole.nodes[static_cast<std::size_t>(link.a)].tier];
    int b = node_of[whole.nodes[static_cast<std::size_t>(link.b)].tier];
    const bool turned = a > b;
    if (turned) std::swap(a, b);
    const auto [found, fresh] = bundle_of.try_emplace({a, b}, result.links.size());
    if (fresh) result.links.push_back({a, b, 0, link.rate_bps, 0, {}, {}});
    TopologyLink& bundle = result.links[found->second];
    ++bundle.count;
    bundle.loss = std::max(bundle.loss, link.loss);
    for (const int series : link.there) (turned ? bundle.back : bundle.there).push_back(series);
    for (const int series : link.back) (turned ? bundle.there : bundle.back).push_back(series);
  }
  return result;
}

double utilisation_of(const LinkSeries& series, double time_s) {
  const auto after = std::upper_bound(
      series.intervals.begin(), series.intervals.end(), time_s,
      [](double time, const LinkSeries::Interval& interval) { return time < interval.start_s; });
  if (after == series.intervals.begin()) return 0;
  const LinkSeries::Interval& interval = *(after - 1);
  return time_s < interval.end_s ? series.utilisation(interval) : 0;
}

/// Over the whole run.
double mean_utilisation(const Topology& topology, const std::vector<int>& which) {
  double share = 0;
  for (const int number : which) {
    const LinkSeries& series = topology.series[static_cast<std::size_t>(number)];
    double bytes = 0;
    for (const auto& interval : series.intervals) bytes += static_cast<double>(interval.wire_bytes);
    const double room = series.rate_bps / 8 * topology.end_s;
    share += room > 0 ? bytes / room : 0;
  }
  return which.empty() ? -1 : share / static_cast<double>(which.size());
}

}  // namespace

Topology topology_of(const sim::Cluster& cluster, std::vector<LinkSeries> series,
                     std::size_t most_nodes) {
  Topology topology;
  const auto names = cluster.node_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    topology.nodes.push_back({names[i], cluster.is_host(static_cast<sim::NodeId>(i)), 0, 1, 0, 0});
  }
  sim::ChannelId channel = 0;
  for (const sim::Link& link : cluster.links()) {
    topology.links.push_back({static_cast<int>(link.a),
                              static_cast<int>(link.b),
                              1,
                              cluster.nominal_rate(channel).value(),
                              link.spec.mean_loss(),
                              {},
                              {}});
    channel += 2;
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto link = static_cast<std::size_t>(series[i].channel / 2);
    if (link >= topology.links.size()) continue;  // another cluster's: nothing is drawn of it
    TopologyLink& its = topology.links[link];
    (series[i].channel % 2 == 0 ? its.there : its.back).push_back(static_cast<int>(i));
    if (!series[i].intervals.empty()) {
      topology.end_s = std::max(topology.end_s, series[i].intervals.back().end_s);
    }
  }
  set_tiers(topology);
  if (topology.nodes.size() > most_nodes) {
    Topology small = aggregated(topology);
    small.end_s = topology.end_s;
    topology = std::move(small);
  }
  place(topology);
  topology.series = std::move(series);
  return topology;
}

double utilisation_at(const Topology& topology, const TopologyLink& link, double time_s) {
  double busiest = -1;
  for (const std::vector<int>* which : {&link.there, &link.back}) {
    double sum = 0;
    for (const int number : *which) {
      sum += utilisation_of(topology.series[static_cast<std::size_t>(number)], time_s);
    }
    if (!which->empty()) busiest = std::max(busiest, sum / static_cast<double>(which->size()));
  }
  return busiest;
}

std::vector<int> by_load(const Topology& topology) {
  std::vector<double> load;
  for (const TopologyLink& link : topology.links) {
    load.push_back(
        std::max(mean_utilisation(topology, link.there), mean_utilisation(topology, link.back)));
  }
  std::vector<int> order(topology.links.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return load[static_cast<std::size_t>(a)] > load[static_cast<std::size_t>(b)];
  });
  return order;
}

}  // namespace gradwire::gui
