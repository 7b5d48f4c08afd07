#include "sim/graph/graph_index.h"

#include "base/error.h"

namespace gradwire::sim {
namespace {

const CollectiveSpec& spec_of(const GraphTemplate& graph, OpIndex op) {
  return graph.collectives[static_cast<std::size_t>(graph.peer[op])];
}

std::uint32_t members(const CollectiveSpec& spec) {
  return static_cast<std::uint32_t>(spec.members.size());
}

/// Ranks of all hosts in one collective, found once for the many edges that touch it.
class RankTable {
 public:
  void use(const CollectiveSpec& spec) {
    if (spec_ == &spec) return;
    spec_ = &spec;
    rank_.clear();
    for (std::size_t r = 0; r < spec.members.size(); ++r) set(spec.members[r], static_cast<int>(r));
    if (has_server(spec)) set(spec.server, static_cast<int>(spec.members.size()));
  }
  int rank(int host) const {
    return host < static_cast<int>(rank_.size()) ? rank_[static_cast<std::size_t>(host)] : -1;
  }

 private:
  void set(int host, int rank) {
    if (host >= static_cast<int>(rank_.size()))
      rank_.resize(static_cast<std::size_t>(host) + 1, -1);
    rank_[static_cast<std::size_t>(host)] = rank;
  }
  const CollectiveSpec* spec_ = nullptr;
  std::vector<int> rank_;
};

/// Expands edges from one template to one other (or the same).
class EdgeExpander {
 public:
  void expand(const GraphTemplate& from_graph, OpIndex from, const GraphTemplate& to_graph,
              OpIndex to, std::vector<GateEdge>& edges) {
    if (!to_graph.is_collective(to)) {
      edges.push_back({source_for(from_graph, from, to_graph.worker[to]), 0});
      return;
    }
    const CollectiveSpec& spec = spec_of(to_graph, to);
    if (!from_graph.is_collective(from)) {
      const bool arrives = from_graph.kind[from] == OpKind::kTransfer;
      const int host = arrives ? from_graph.peer[from] : from_graph.worker[from];
      const int rank = table(to_ranks_, to_graph, to).rank(host);
      if (rank >= 0) {
        edges.push_back({0, static_cast<std::uint32_t>(rank)});
        return;
      }
    }
    const std::uint32_t gates = members(spec) + (has_server(spec) ? 1 : 0);
    for (std::uint32_t gate = 0; gate < gates; ++gate) {
      const int host = gate < members(spec) ? spec.members[gate] : spec.server;
      edges.push_back({source_for(from_graph, from, host), gate});
    }
  }

 private:
  /// Which source of `from` something on `host` waits for.
  std::uint32_t source_for(const GraphTemplate& graph, OpIndex from, int host) {
    if (!graph.is_collective(from)) return 0;
    const CollectiveSpec& spec = spec_of(graph, from);
    const int rank = table(from_ranks_, graph, from).rank(host);
    return rank >= 0 ? static_cast<std::uint32_t>(rank) : members(spec) + 1;
  }

  static const RankTable& table(std::vector<RankTable>& tables, const GraphTemplate& graph,
                                OpIndex op) {
    tables.resize(graph.collectives.size());
    RankTable& found = tables[static_cast<std::size_t>(graph.peer[op])];
    found.use(spec_of(graph, op));
    return found;
  }

  std::vector<RankTable> from_ranks_;  // by collective
  std::vector<RankTable> to_ranks_;
};

void count_sources_and_gates(const GraphTemplate& graph, GraphIndex& index) {
  std::uint32_t sources = 0;
  for (OpIndex op = 0; op < graph.size(); ++op) {
    index.source_begin.push_back(sources);
    index.gate_begin.push_back(index.gate_count());
    std::uint32_t gates = 1;
    if (graph.is_collective(op)) {
      gates = members(spec_of(graph, op)) + 1;
      sources += gates;
    }
    ++sources;
    index.gate_op.insert(index.gate_op.end(), gates, op);
  }
  index.source_begin.push_back(sources);
  index.gate_begin.push_back(index.gate_count());
}

}  // namespace

GraphIndex::GraphIndex(const GraphTemplate& graph) {
  count_sources_and_gates(graph, *this);
  pending.assign(gate_op.size(), 0);
  std::vector<GateEdge> edges;  // absolute numbers, in order of the operations they lead to
  EdgeExpander expander;
  for (OpIndex to = 0; to < graph.size(); ++to) {
    for (const OpIndex from : graph.dependencies(to)) {
      const std::size_t first = edges.size();
      expander.expand(graph, from, graph, to, edges);
      for (std::size_t e = first; e < edges.size(); ++e) {
        edges[e].source += source_begin[from];
        edges[e].gate += gate_begin[to];
      }
    }
  }
  successor_begin.assign(source_begin.back() + 1, 0);
  for (const GateEdge& edge : edges) {
    ++successor_begin[edge.source + 1];
    ++pending[edge.gate];
  }
  for (std::size_t s = 1; s < successor_begin.size(); ++s) {
    successor_begin[s] += successor_begin[s - 1];
  }
  successor.resize(edges.size());
  std::vector<std::uint32_t> next(successor_begin.begin(), successor_begin.end() - 1);
  for (const GateEdge& edge : edges) successor[next[edge.source]++] = edge.gate;
}

void expand_edge(const GraphTemplate& from_graph, OpIndex from, const GraphTemplate& to_graph,
                 OpIndex to, std::vector<GateEdge>& edges) {
  EdgeExpander().expand(from_graph, from, to_graph, to, edges);
}

int rank_of(const CollectiveSpec& spec, int host) {
  for (std::size_t r = 0; r < spec.members.size(); ++r) {
    if (spec.members[r] == host) return static_cast<int>(r);
  }
  return has_server(spec) && spec.server == host ? static_cast<int>(spec.members.size()) : -1;
}

bool has_server(const CollectiveSpec& spec) {
  return spec.kind->has_server();
}

}  // namespace gradwire::sim
