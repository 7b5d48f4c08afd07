#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/graph/graph_index.h"
#include "sim/graph/timeline.h"

namespace gradwire::sim {

/// What a run's end waited for, back to its beginning: of each operation the last of those that it
/// waited for, be it a dependency or the operation before it on its lane. Where work follows work
/// without a pause the pieces' lengths add up to the makespan; a pause in the path is a time at
/// which nothing held it up but the clock (an absence, a step that was not submitted yet).
///
/// A rank of a collective waits for the rank that became ready last, but no later than it was done
/// itself (in a gossip: of its neighbours); its piece reaches from that readiness to its own end. A
/// piece says nothing of what the network did in between.
class CriticalPath {
 public:
  struct Piece {
    std::size_t step = 0;  ///< number of the add() call
    std::int32_t host = 0;
    std::string label;
    double start = 0;
    double end = 0;
  };

  /// Graphs in order of submission; `after`: as they were submitted. What was cut off is left out.
  void add(const GraphPtr& graph, const Timeline& timeline, std::span<const CrossEdge> after);
  /// Pieces of the path to the operation that ended last, the first one first, empty ones left out.
  std::vector<Piece> find() const;

 private:
  using Source = std::int64_t;  ///< over all graphs; -1 = none
  struct Step {
    GraphPtr graph;
    std::shared_ptr<const GraphIndex> index;
    Timeline timeline;
    Source first_source = 0;
    std::vector<Source> blocker;  ///< by gate: the last to end of those that it waited for
  };
  struct Place {
    const Step* step = nullptr;
    std::size_t number = 0;
    OpIndex op = 0;
    std::uint32_t part = 0;  ///< of the operation's sources
  };

  Place place_of(Source source) const;
  double end_of(Source source) const;
  double end_of(const Step& step, OpIndex op, std::uint32_t part) const;
  void wait_for(Step& step, std::uint32_t gate, Source source);
  Source blocker_of_rank(const Place& place) const;
  std::vector<Source> lane_predecessors() const;

  std::vector<Step> steps_;
  std::map<GraphId, std::size_t> number_of_;
  Source sources_ = 0;
};

}  // namespace gradwire::sim
