#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/graph/collective.h"

/// Graphs over workers 0 to n - 1 along which gossip passes: undirected, each edge once, none from
/// a worker to itself. Each call throws SimError where there is no such graph.
namespace gradwire::sim {

using GossipEdges = std::vector<std::pair<int, int>>;

GossipEdges gossip_ring(int workers);
/// A grid that wraps around, as square as can be: rows = the largest divisor of n up to sqrt(n).
GossipEdges gossip_torus(int workers);
GossipEdges gossip_complete(int workers);
/// Each worker has `degree` neighbours: a circulant graph whose edges then trade ends at random,
/// ten times as often as there are edges (Maslov and Sneppen, Science 2002), and on until it is
/// connected. Drawn by Philox words keyed by `seed`.
GossipEdges gossip_random_regular(int workers, int degree, std::uint64_t seed);

/// Refuses edges that name no worker, join one to itself or stand twice.
void check_gossip_edges(int workers, const GossipEdges& edges);

/// Fills neighbour_begin and neighbour of a gossip over members.size() ranks, ascending.
void set_neighbours(CollectiveSpec& spec, const GossipEdges& edges);

}  // namespace gradwire::sim
