#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sim/graph/step_graph.h"

/// The edges of a template turned around, once per template. An operation has *sources* that end
/// and *gates* that open:
///   plain operation: one source (its end), one gate (its start);
///   collective of N members: sources 0..N-1 (that rank done), N (the server done), N + 1 (all
///                            done); gates 0..N-1 (that rank ready), N (the server ready; push
///                            and pull).
/// A gate opens when all sources that lead to it have ended (sim/graph/step_graph.h has the rule of
/// which source leads to which gate).
namespace gradwire::sim {

struct GraphIndex {
  explicit GraphIndex(const GraphTemplate& graph);

  std::span<const std::uint32_t> gates_after(std::uint32_t source) const {
    return {successor.data() + successor_begin[source],
            successor_begin[source + 1] - successor_begin[source]};
  }
  std::uint32_t gate_count() const { return static_cast<std::uint32_t>(gate_op.size()); }
  std::uint32_t source_count() const {
    return static_cast<std::uint32_t>(successor_begin.size() - 1);
  }

  std::vector<std::uint32_t> source_begin;     ///< [operations + 1]
  std::vector<std::uint32_t> gate_begin;       ///< [operations + 1]
  std::vector<OpIndex> gate_op;                ///< [gates]
  std::vector<std::uint32_t> pending;          ///< [gates], sources that lead to it
  std::vector<std::uint32_t> successor_begin;  ///< [sources + 1]
  std::vector<std::uint32_t> successor;        ///< gates
};

/// One edge in terms of sources and gates, relative to the first of each operation.
struct GateEdge {
  std::uint32_t source = 0;
  std::uint32_t gate = 0;
};

/// Appends what the edge from `from` of one template to `to` of another (or the same) means.
void expand_edge(const GraphTemplate& from_graph, OpIndex from, const GraphTemplate& to_graph,
                 OpIndex to, std::vector<GateEdge>& edges);

/// Rank of `host` in the collective, N for its server, -1 if it takes no part.
int rank_of(const CollectiveSpec& spec, int host);
bool has_server(const CollectiveSpec& spec);

}  // namespace gradwire::sim
