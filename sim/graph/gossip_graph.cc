#include "sim/graph/gossip_graph.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/philox.h"
#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

constexpr std::uint32_t kGossipStream = kFirstReservedTensor + 0x10000010u;
constexpr int kTradesPerEdge = 10;
constexpr int kMostRounds = 100;

std::pair<int, int> ordered(int a, int b) {
  return {std::min(a, b), std::max(a, b)};
}

[[noreturn]] void refuse(const std::string& graph, int workers, const std::string& reason) {
  throw SimError("make a gossip graph", graph + " of " + std::to_string(workers) + " workers",
                 reason);
}

GossipEdges circulant(int workers, int degree) {
  std::set<std::pair<int, int>> edges;
  for (int w = 0; w < workers; ++w) {
    for (int step = 1; step <= degree / 2; ++step) edges.insert(ordered(w, (w + step) % workers));
    if (degree % 2 == 1) edges.insert(ordered(w, (w + workers / 2) % workers));
  }
  return {edges.begin(), edges.end()};
}

bool is_connected(int workers, const GossipEdges& edges) {
  std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(workers));
  for (const auto& [a, b] : edges) {
    neighbours[static_cast<std::size_t>(a)].push_back(b);
    neighbours[static_cast<std::size_t>(b)].push_back(a);
  }
  std::vector<bool> seen(neighbours.size(), false);
  std::vector<int> open = {0};
  seen[0] = true;
  std::size_t count = 1;
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    for (const int next : neighbours[static_cast<std::size_t>(at)]) {
      if (seen[static_cast<std::size_t>(next)]) continue;
      seen[static_cast<std::size_t>(next)] = true;
      ++count;
      open.push_back(next);
    }
  }
  return count == neighbours.size();
}

/// Edges a-b and c-d become a-d and c-b, unless an edge would stand twice or join one to itself.
class Trader {
 public:
  Trader(GossipEdges& edges, std::uint64_t seed)
      : edges_(edges), present_(edges.begin(), edges.end()), stream_{seed, 0, 0, kGossipStream} {}

  void trade_all() {
    for (std::size_t i = 0; i < edges_.size() * kTradesPerEdge; ++i)
      trade(draw(edges_.size()), draw(edges_.size()), draw(2) == 1);
  }

 private:
  std::size_t draw(std::size_t below) {
    const auto u = static_cast<double>(uniform(stream_, draws_++));
    return std::min(static_cast<std::size_t>(u * static_cast<double>(below)), below - 1);
  }

  void trade(std::size_t first, std::size_t second, bool turned) {
    const auto [a, b] = edges_[first];
    const auto [c, d] =
        turned ? std::pair(edges_[second].second, edges_[second].first) : edges_[second];
    const auto one = ordered(a, d), other = ordered(c, b);
    if (a == d || c == b || one == other || present_.contains(one) || present_.contains(other))
      return;
    present_.erase(edges_[first]);
    present_.erase(edges_[second]);
    present_.insert(edges_[first] = one);
    present_.insert(edges_[second] = other);
  }

  GossipEdges& edges_;
  std::set<std::pair<int, int>> present_;
  RandomStream stream_;
  std::uint64_t draws_ = 0;
};

}  // namespace

GossipEdges gossip_ring(int workers) {
  return workers < 2 ? GossipEdges{} : circulant(workers, 2);
}

GossipEdges gossip_torus(int workers) {
  int rows = static_cast<int>(std::sqrt(static_cast<double>(workers)));
  while (rows > 1 && workers % rows != 0) --rows;
  if (rows < 2) refuse("a torus", workers, "a grid needs two rows at least: their number is prime");
  const int columns = workers / rows;
  std::set<std::pair<int, int>> edges;
  for (int w = 0; w < workers; ++w) {
    const int row = w / columns, column = w % columns;
    edges.insert(ordered(w, row * columns + (column + 1) % columns));
    edges.insert(ordered(w, (row + 1) % rows * columns + column));
  }
  return {edges.begin(), edges.end()};
}

GossipEdges gossip_complete(int workers) {
  GossipEdges edges;
  for (int a = 0; a < workers; ++a)
    for (int b = a + 1; b < workers; ++b) edges.emplace_back(a, b);
  return edges;
}

GossipEdges gossip_random_regular(int workers, int degree, std::uint64_t seed) {
  const std::string name = "random, with " + std::to_string(degree) + " neighbours each,";
  if (degree < 2 || degree >= workers)
    refuse(name, workers, "a worker has 2 neighbours at least, and one less than all at most");
  if (degree % 2 == 1 && workers % 2 == 1)
    refuse(name, workers, "an odd number of workers cannot have an odd number of neighbours each");
  GossipEdges edges = circulant(workers, degree);
  Trader trader(edges, seed);
  for (int round = 0; round < kMostRounds; ++round) {
    trader.trade_all();
    if (!is_connected(workers, edges)) continue;
    std::sort(edges.begin(), edges.end());
    return edges;
  }
  refuse(name, workers, "no connected one was drawn");
}

void check_gossip_edges(int workers, const GossipEdges& edges) {
  std::set<std::pair<int, int>> seen;
  for (const auto& [a, b] : edges) {
    const std::string edge = std::to_string(a) + " to " + std::to_string(b);
    if (std::min(a, b) < 0 || std::max(a, b) >= workers)
      refuse("one with the edge " + edge, workers, "there is no such worker");
    if (a == b) refuse("one with the edge " + edge, workers, "it joins a worker to itself");
    if (!seen.insert(ordered(a, b)).second)
      refuse("one with the edge " + edge, workers, "it stands twice");
  }
}

void set_neighbours(CollectiveSpec& spec, const GossipEdges& edges) {
  std::vector<std::vector<std::int32_t>> lists(spec.members.size());
  for (const auto& [a, b] : edges) {
    lists[static_cast<std::size_t>(a)].push_back(b);
    lists[static_cast<std::size_t>(b)].push_back(a);
  }
  spec.neighbour_begin.assign(1, 0);
  spec.neighbour.clear();
  for (std::vector<std::int32_t>& list : lists) {
    std::sort(list.begin(), list.end());
    spec.neighbour.insert(spec.neighbour.end(), list.begin(), list.end());
    spec.neighbour_begin.push_back(static_cast<std::int32_t>(spec.neighbour.size()));
  }
}

}  // namespace gradwire::sim
