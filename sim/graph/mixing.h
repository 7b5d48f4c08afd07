#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/graph/gossip_graph.h"

/// Who sends what it has to whom, and how much of it the receiver takes: a graph over workers 0 to
/// n - 1 whose edges have weights,
///
///   x_i <- w_ii x_i + sum over edges j -> i of w_ij x_j,
///
/// doubly stochastic: no weight is negative, those into a worker add up to 1, itself included, and
/// those out of it do, so that the mean of all x stays what it is. Each call throws SimError where
/// there is no such graph.
namespace gradwire::sim {

struct MixingEdge {
  int from = 0, to = 0;
  double weight = 0;
};

/// An edge before its weight is known; none: by the rule of make_mixing.
struct GivenEdge {
  int from = 0, to = 0;
  std::optional<double> weight = {};
};

class Mixing {
 public:
  /// `edges`: each once, none from a worker to itself.
  Mixing(int workers, std::vector<MixingEdge> edges);

  int workers() const { return static_cast<int>(self_.size()); }
  /// By receiver, then by sender.
  const std::vector<MixingEdge>& edges() const { return edges_; }
  /// Those into worker `i`: edges()[first_into(i)] to before edges()[first_into(i + 1)].
  std::size_t first_into(int i) const { return first_into_[static_cast<std::size_t>(i)]; }
  double self(int i) const { return self_[static_cast<std::size_t>(i)]; }
  /// Whom worker `i` sends to, ascending.
  const std::vector<std::int32_t>& receivers(int i) const {
    return receivers_[static_cast<std::size_t>(i)];
  }

  /// 1 - s, s being the factor by which a mixing shrinks the distance of all x from their mean at
  /// least: the second singular value of the weights. Of graphs whose weights commute with their
  /// transpose (undirected, circulant) s is the second eigenvalue's modulus.
  double spectral_gap() const;

 private:
  void check() const;
  void check_connected() const;

  std::vector<MixingEdge> edges_;
  std::vector<std::size_t> first_into_;
  std::vector<double> self_;
  std::vector<std::vector<std::int32_t>> receivers_;
};

/// Both ways along each edge.
std::vector<GivenEdge> both_ways(const GossipEdges& edges);
/// Worker i sends to i + 1, the last one to the first.
std::vector<GivenEdge> directed_ring(int workers);
/// Worker i sends to i + 1, i + 2, i + 4, ... (below n away), around the circle.
std::vector<GivenEdge> directed_exponential(int workers);

/// The weights that are given, or, where none are, Metropolis' (Metropolis et al. 1953; Xiao, Boyd
/// and Lall, IPSN 2005): 1 / (1 + d), d being the larger one of the two ends' numbers of senders.
/// Throws SimError where only some are given.
Mixing make_mixing(int workers, const std::vector<GivenEdge>& edges);

}  // namespace gradwire::sim
