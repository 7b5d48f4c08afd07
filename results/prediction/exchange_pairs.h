#pragma once
#include <vector>

#include "results/prediction/exchange_shape.h"

namespace gradwire::results {

/// A transfer of a hop, by rank; the parameter server is rank `workers`.
struct RankPair {
  int source = 0;
  int destination = 0;
};

/// The transfers of a hop, under way at once.
struct HopPairs {
  std::vector<RankPair> pairs;
  double each = 1;  ///< each stands for so many
};

/// Who sends to whom in each of hops_of(kind, workers, group), as sim/graph/collectives has it.
/// Halving and doubling, and what goes up and comes down a tree, are one entry: the same links the
/// other way. In-network: a worker and the next one, whose path the aggregators stand on. Where all
/// send to all, those a number of ranks apart, kMostPairs at most.
std::vector<HopPairs> hop_pairs(ExchangeKind kind, int workers, int group = 8);

inline constexpr int kMostPairs = 16384;

}  // namespace gradwire::results
