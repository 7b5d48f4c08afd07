#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "results/store/store.h"
#include "sim/cluster/cluster.h"

/// A run's network as a drawing: hosts and switches by tier, and what its links carried. No widget.
namespace gradwire::gui {

struct TopologyNode {
  std::string name;
  bool host = true;
  int tier = 0;         ///< 0 = hosts; a switch stands one above the lowest that it joins
  int count = 1;        ///< nodes that it stands for
  double x = 0, y = 0;  ///< in [0, 1]; y downwards, hosts at the bottom
};

struct TopologyLink {
  int a = 0, b = 0;  ///< numbers of nodes
  int count = 1;     ///< links that it stands for
  double rate_bps = 0;
  double loss = 0;  ///< mean share of packets that it loses
  /// What was stored of it: the numbers of its series, towards b and towards a.
  std::vector<int> there, back;
};

struct Topology {
  results::RunId run = 0;
  std::vector<TopologyNode> nodes;
  std::vector<TopologyLink> links;
  std::vector<results::LinkSeries> series;
  bool aggregated = false;  ///< a node a tier
  double end_s = 0;         ///< of what was stored
};
using TopologyPtr = std::shared_ptr<const Topology>;

/// More nodes than this become a node a tier.
inline constexpr std::size_t kMostNodes = 1024;

Topology topology_of(const sim::Cluster& cluster, std::vector<results::LinkSeries> series,
                     std::size_t most_nodes = kMostNodes);

/// Share of its rate that a link's busier direction carries at a time; of a bundle the mean over
/// its stored links. Negative: nothing is stored of it.
double utilisation_at(const Topology& topology, const TopologyLink& link, double time_s);

/// The busiest first: what carried most of its rate over the run. Links without series last.
std::vector<int> by_load(const Topology& topology);

}  // namespace gradwire::gui
