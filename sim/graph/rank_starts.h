#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/graph/graph_index.h"
#include "sim/graph/timeline.h"

namespace gradwire::sim {

/// When each rank of a graph's collectives was ready for it: the last end of what that rank waited
/// for, in its own graph or, over cross edges, in an earlier one. A timeline only has the first
/// rank's readiness; between that and its own a rank still works and does not communicate.
class RankStarts {
 public:
  /// By collective (in order of spec) and rank; < 0: never ready. A rank that waits for nothing is
  /// ready when the collective starts. Graphs in order of submission, `after` as submitted.
  std::vector<std::vector<Seconds>> add(const GraphPtr& graph, const Timeline& timeline,
                                        std::span<const CrossEdge> after);

 private:
  /// Graphs that later ones may wait for. A step names the one or two graphs before it.
  static constexpr std::size_t kKept = 64;
  struct Ended {
    GraphPtr graph;
    std::shared_ptr<const GraphIndex> index;
    std::vector<double> ends;  ///< by source; < 0: cut off
  };

  std::map<GraphId, Ended> ended_;
};

}  // namespace gradwire::sim
