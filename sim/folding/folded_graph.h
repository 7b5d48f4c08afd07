#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/folding/columns.h"
#include "sim/folding/folded_cluster.h"
#include "sim/graph/graph_index.h"
#include "sim/graph/timeline.h"
#include "sim/session/executor.h"

namespace gradwire::sim {

/// What the kept columns do of a graph, as a graph by itself.
///
/// Proof. The i-th operation of a host is the image of the i-th one of the host in the same row of
/// column 0: of the same kind, on the same lane, after the images of the same operations.
/// Collectives are their own images: all hosts take part, in order of rank, each waits for the same
/// of its own host, and its schedule repeats (CollectiveDescriptor::repeats). Operations of hosts
/// that are in no column, and plain transfers, are refused.
class FoldedGraph {
 public:
  /// Null: the columns do not do the same.
  static std::shared_ptr<const FoldedGraph> fold(const GraphPtr& whole, const Columns& columns);

  const GraphPtr& graph() const { return folded_; }
  const GraphTemplate& whole() const { return *whole_; }
  /// Whether sizes and times of a use of the graph are those of the kept columns, too, which are
  /// then appended.
  bool fold_values(const Submission& submission, std::vector<Bytes>& bytes,
                   std::vector<Seconds>& seconds) const;
  /// The same for edges from `from` (null: a graph that is forgotten) to `to`.
  static bool fold_edges(const FoldedGraph& from, const FoldedGraph& to,
                         std::span<const CrossEdge> edges, std::vector<CrossEdge>& folded);

  /// What becomes of the whole graph, as the folded one's timeline says.
  void expand(const Timeline& folded, Timeline& whole) const;
  bool is_collective(OpIndex folded_op) const { return folded_->is_collective(folded_op); }
  /// Column of an operation of the folded graph; -1: of a collective.
  std::int32_t column_of(OpIndex folded_op) const;
  /// The same number for images of each other.
  std::uint32_t orbit_of(OpIndex folded_op) const;
  /// The operation's images in the whole graph, by column; of a collective itself.
  std::vector<OpIndex> images_of(OpIndex folded_op) const;

 private:
  /// Of an operation that is no collective.
  struct Place {
    std::int32_t rank = -1;   ///< of its host; -1: a collective
    std::int32_t number = 0;  ///< among its host's
  };
  FoldedGraph(GraphPtr whole, const Columns& columns)
      : whole_(std::move(whole)), columns_(columns) {}

  bool place_operations();
  bool is_image(OpIndex op) const;
  bool is_symmetric(OpIndex collective) const;
  bool waits_evenly(OpIndex collective) const;
  void build();
  OpIndex first_image(OpIndex op) const;
  const Place& place(OpIndex op) const { return places_[op]; }

  GraphPtr whole_;
  Columns columns_;
  std::vector<Place> places_;                     // by operation
  std::vector<std::vector<OpIndex>> operations_;  // by rank
  GraphPtr folded_;
  std::vector<OpIndex> kept_;       // by operation of the folded graph
  std::vector<OpIndex> folded_op_;  // by operation: the one whose record is its own
};

}  // namespace gradwire::sim
