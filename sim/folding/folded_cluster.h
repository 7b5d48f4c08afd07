#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/folding/columns.h"

namespace gradwire::sim {

/// Ranks of each column that send to ranks of the same column or of one beside it.
struct ColumnPair {
  std::int32_t from = 0;  ///< row
  std::int32_t to = 0;    ///< row
  std::int32_t step = 0;  ///< columns, from the one to the other: -1, 0 or 1
  bool operator==(const ColumnPair&) const = default;
};

/// The kept columns of a cluster, as one by itself.
///
/// Proof. Turning the columns by one is taken to carry the k-th link of each pair's way to the k-th
/// link of the next column's. It is checked that this is one map of links: every link that ways
/// cross belongs to one column, has one place there whatever way crosses it, and the properties of
/// those in the same place of all columns. Then ways meet the same others on the same links in
/// every column. Links that no way crosses do not matter, nor does which switches are joined by the
/// ones that do: only links hold anything up.
///
/// Links that lose, delay by chance, or change are refused: what is drawn differs, and what
/// changes is not worth its proof.
class FoldedCluster {
 public:
  /// None: the columns of the cluster are not images of each other.
  static std::optional<FoldedCluster> fold(const Cluster& whole, const Columns& columns,
                                           std::span<const ColumnPair> pairs,
                                           const TransportSettings& transport);

  /// Host c rows + r is row r of column c; links that are images of each other follow one another,
  /// kKeptColumns a group.
  const Cluster& cluster() const { return cluster_; }
  /// The channel of cluster() that carries what a channel of the whole cluster does; -1: nothing.
  ChannelId image(ChannelId whole) const;

 private:
  /// Of a link of the whole cluster.
  struct Place {
    std::int32_t group = -1;  ///< of the links that are images of each other; -1: not crossed
    std::int32_t column = 0;
    bool turned = false;  ///< the way that found it crosses it from b to a
  };
  /// One hop of a pair's way.
  struct Hop {
    std::int32_t group = 0;
    std::int32_t step = 0;   ///< the link's column, from the sender's
    bool backwards = false;  ///< against the way that found the link
  };
  struct Way {
    ColumnPair pair;
    std::vector<Hop> hops;
  };

  bool add_way(const Cluster& whole, const Columns& columns, const ColumnPair& pair);
  std::optional<Hop> place_links(const Cluster& whole, std::span<const ChannelId> channels);
  std::optional<Hop> found_before(std::span<const ChannelId> channels) const;
  bool build(const Columns& columns);
  std::vector<std::int32_t> join_ends(std::int32_t rows) const;
  bool add_routes(const std::vector<NodeId>& node_of_end, std::int32_t rows);
  std::int32_t link_of(const Hop& hop, std::int32_t column) const;

  std::vector<Place> places_;    // by link of the whole cluster
  std::vector<LinkSpec> specs_;  // by group
  std::vector<Way> ways_;
  Cluster cluster_;
};

}  // namespace gradwire::sim
