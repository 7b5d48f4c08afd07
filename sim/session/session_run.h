#pragma once
#include "base/error.h"
#include "sim/session/collective_pace.h"
#include "sim/session/session.h"

/// What a GraphSession keeps of one submitted graph. Included by the session's sources alone.
namespace gradwire::sim {

struct GraphSession::Collective {
  std::unique_ptr<CollectiveGenerator> generator;  ///< null in closed form
  std::optional<CollectivePace> pace;
  std::vector<char> ready;           ///< [ranks + 1], the last: the server
  std::vector<double> adding_until;  ///< [ranks + 1], reductions only
  std::vector<HopTransfer> held;     ///< arrived before their rank was ready
  std::uint32_t ready_count = 0;
  std::uint32_t done_count = 0;
  bool adds_at_once = true;    ///< adding a hop takes no time
  bool tells_senders = false;  ///< the generator wants to know when a hop has arrived
};

struct GraphSession::Run {
  struct CrossSuccessor {
    std::uint32_t source = 0;
    std::int32_t next = -1;  ///< the next edge from this source
    GraphId graph = 0;
    std::uint32_t gate = 0;
  };

  GraphId id = 0;
  GraphPtr graph;
  std::shared_ptr<const GraphIndex> index;
  std::vector<Bytes> bytes;
  std::vector<Seconds> seconds;
  std::vector<std::uint32_t> pending;     ///< [gates], sources still to end
  std::vector<bool> source_done;          ///< [sources]
  std::vector<CrossSuccessor> cross;      ///< edges to later graphs
  std::vector<std::int32_t> cross_first;  ///< [sources], into cross; empty while there are none
  std::vector<Collective> collectives;
  Timeline timeline;
  std::vector<MissingData> missing;
  std::size_t unfinished = 0;
  double not_before = 0;
  bool released = false;
  bool cancelled = false;

  std::span<const Bytes> bytes_of(OpIndex op) const {
    return std::span(bytes).subspan(graph->bytes_begin[op],
                                    graph->bytes_begin[op + 1] - graph->bytes_begin[op]);
  }
  const CollectiveSpec& spec(OpIndex op) const {
    return graph->collectives[static_cast<std::size_t>(graph->peer[op])];
  }
  OpRecord& record(OpIndex op) { return timeline.ops[op]; }
};

// Every hop asks for these.
inline GraphSession::Run* GraphSession::find(GraphId graph) const {
  return last_found_ != nullptr && last_found_->id == graph ? last_found_ : look_up(graph);
}

inline GraphSession::Run& GraphSession::get(GraphId graph) const {
  Run* run = find(graph);
  GRADWIRE_ASSERT(run != nullptr);
  return *run;
}

inline GraphSession::Collective& GraphSession::collective_of(Run& run, OpIndex op) {
  Collective& collective = run.collectives[static_cast<std::size_t>(run.graph->peer[op])];
  if (collective.ready.empty()) open_collective(run, op, collective);
  return collective;
}

}  // namespace gradwire::sim
