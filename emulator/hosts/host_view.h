#pragma once
#include <cstdint>
#include <vector>

#include "sim/graph/graph_index.h"
#include "sim/graph/step_graph.h"

/// A template as seen by processes that each play one host: which host opens a gate, which observes
/// a source's end (sim/graph/graph_index.h has both words), and who must be told.
///
/// A worker's operation, and what a host receives, it observes itself. A rank that only sends
/// (push; the source of a transfer) is done when its message has arrived: its receiver observes
/// that. *Composite* sources (all ranks done; the server of a pull) follow from the others.
namespace gradwire::emulator {

using sim::GraphTemplate;
using sim::OpIndex;

struct HostView {
  explicit HostView(sim::GraphPtr template_graph);

  std::int32_t gate_owner(std::uint32_t gate) const;
  /// Host that observes the end of a source; -1 for composite ones.
  std::int32_t observer(std::uint32_t source) const;
  OpIndex op_of_source(std::uint32_t source) const { return source_op[source]; }
  /// The sources from which a source follows (itself, if it is no composite).
  std::vector<std::uint32_t> parts(std::uint32_t source) const;
  /// Sources of one collective that follow from its parts; none for other operations.
  std::vector<std::uint32_t> composites(OpIndex op) const;
  /// Hosts that wait for `source`, or for something that follows from it.
  std::vector<std::int32_t> listeners(std::uint32_t source) const;

  bool is_collective(OpIndex op) const { return graph->kind[op] == sim::OpKind::kCollective; }
  const sim::CollectiveSpec& spec(OpIndex op) const {
    return graph->collectives[static_cast<std::size_t>(graph->peer[op])];
  }

  sim::GraphPtr graph;
  sim::GraphIndex index;
  std::vector<OpIndex> source_op;  ///< [sources]
};

/// What a host does in a transfer or collective.
enum class Role {
  kNone,
  kSender,    ///< source of a transfer, member of a push, server of a pull: others see it end
  kReceiver,  ///< the other end: acts when the first message has come
  kRing,      ///< both
};
Role role_of(const HostView& view, OpIndex op, int host);
/// The gate that opens the host's part (a transfer's receiver has none: kNoGate).
inline constexpr std::uint32_t kNoGate = 0xFFFFFFFFu;
std::uint32_t gate_of(const HostView& view, OpIndex op, int host);

/// Hosts to which `host` sends something in this template.
std::vector<std::int32_t> destinations(const HostView& view, int host);

}  // namespace gradwire::emulator
