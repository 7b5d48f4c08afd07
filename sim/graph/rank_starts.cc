#include "sim/graph/rank_starts.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

/// Ends by source (sim/graph/graph_index.h): of a rank its own, of the rest their operation's.
std::vector<double> ends_of(const GraphTemplate& graph, const GraphIndex& index,
                            const Timeline& timeline) {
  std::vector<double> ends(index.source_count());
  for (OpIndex op = 0; op < graph.size(); ++op) {
    const std::uint32_t first = index.source_begin[op];
    for (std::uint32_t source = first; source < index.source_begin[op + 1]; ++source)
      ends[source] = timeline.ops[op].end.value();
    if (!graph.is_collective(op)) continue;
    const auto& done = timeline.rank_done[static_cast<std::size_t>(graph.peer[op])];
    for (std::size_t rank = 0; rank < done.size(); ++rank) ends[first + rank] = done[rank].value();
  }
  return ends;
}

}  // namespace

std::vector<std::vector<Seconds>> RankStarts::add(const GraphPtr& graph, const Timeline& timeline,
                                                  std::span<const CrossEdge> after) {
  const bool same = !ended_.empty() && ended_.rbegin()->second.graph == graph;
  Ended own{graph, same ? ended_.rbegin()->second.index : std::make_shared<GraphIndex>(*graph), {}};
  const GraphIndex& index = *own.index;
  own.ends = ends_of(*graph, index, timeline);
  std::vector<double> ready(index.gate_count(), -1);
  for (std::uint32_t source = 0; source < index.source_count(); ++source)
    for (const std::uint32_t gate : index.gates_after(source))
      ready[gate] = std::max(ready[gate], own.ends[source]);
  std::vector<GateEdge> parts;
  for (const CrossEdge& edge : after) {
    const auto from = ended_.find(edge.from.graph);
    if (from == ended_.end() || !graph->is_collective(edge.to)) continue;
    parts.clear();
    expand_edge(*from->second.graph, edge.from.op, *graph, edge.to, parts);
    for (const GateEdge& part : parts) {
      double& gate = ready[index.gate_begin[edge.to] + part.gate];
      gate = std::max(
          gate, from->second.ends[from->second.index->source_begin[edge.from.op] + part.source]);
    }
  }
  std::vector<std::vector<Seconds>> starts(graph->collectives.size());
  for (OpIndex op = 0; op < graph->size(); ++op) {
    if (!graph->is_collective(op)) continue;
    const auto collective = static_cast<std::size_t>(graph->peer[op]);
    const double first = timeline.ops[op].start.value();
    for (std::size_t rank = 0; rank < graph->collectives[collective].members.size(); ++rank) {
      const double own_ready = ready[index.gate_begin[op] + rank];
      // Never before the graph was: what it waited for may have ended long ago.
      starts[collective].emplace_back(own_ready < 0 ? first
                                                    : std::max(own_ready, timeline.start.value()));
    }
  }
  ended_[timeline.graph] = std::move(own);
  if (ended_.size() > kKept) ended_.erase(ended_.begin());
  return starts;
}

}  // namespace gradwire::sim
