#pragma once
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "sim/graph/byte_range.h"
#include "sim/graph/collective.h"
#include "sim/graph/step_graph.h"

/// Operations of submitted step graphs, how they wait for each other across graphs, and what became
/// of them.
namespace gradwire::sim {

using GraphId = std::uint64_t;

struct OpRef {
  GraphId graph = 0;
  OpIndex op = 0;
};

/// `to` of the submitted graph also waits for `from` of an earlier one (the same rule as for edges
/// inside a graph; an edge from a forgotten or finished operation is already satisfied).
struct CrossEdge {
  OpRef from;
  OpIndex to = 0;
};

/// What happened to each operation; start < 0 = never started, end < 0 = not ended. For a
/// collective: from the first rank's readiness (pull: the server's) to the last rank's completion.
struct OpRecord {
  Seconds start{-1};
  Seconds end{-1};
  Bytes payload{0};  ///< sent by transfers of this operation (encoder's bytes)
  Bytes wire{0};     ///< with headers and retransmissions, as sent by the sources
  std::int64_t transfers = 0;
  /// Segments sent again (0 in `model`; expected or drawn in `flow`).
  std::int64_t retransmissions = 0;
};

/// What of a transfer's, or a hop's, payload never arrived (udp-lossy).
struct MissingData {
  OpIndex op = 0;
  HopTransfer hop;
  std::vector<ByteRange> ranges;  ///< ascending, apart
};

struct Timeline {
  GraphId graph = 0;
  std::vector<OpRecord> ops;  ///< [graph size]
  /// By collective (in order of spec) and rank: when that rank was done.
  std::vector<std::vector<Seconds>> rank_done;
  Seconds start{0};
  Seconds end{0};
};

}  // namespace gradwire::sim
