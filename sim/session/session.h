#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/graph_index.h"
#include "sim/graph/step_graph.h"
#include "sim/session/event_heap.h"
#include "sim/session/executor.h"
#include "sim/session/network.h"
#include "sim/transport/transport_settings.h"

/// The graph core that every executor shares: lanes, dependencies, edges between graphs, lazily
/// expanded collectives, cancelling, timelines and events. It drives a `Network`, which alone knows
/// how long bytes take; so that executors can differ in nothing but the network.
///
/// Rules.
/// - At one instant, first everything that ends then takes effect (deliveries, then lanes, then
///   whatever that makes ready), then idle lanes start what is ready, in order of (time of
///   readiness, graph id, index). All of it is deterministic if the network is.
/// - A hop of a reduction that arrives before its rank is ready waits for it; a rank that is ready
///   adds hops one after the other, hop_fixed + count * hop_per_element each, before it may send
///   them on.
/// - An empty transfer (0 bytes) never reaches the network: it ends when it starts.
/// - A transfer that the network gives up, or that outlasts the limit, is reported once
///   (kTransferFailed, host = its destination); what depends on it never starts.
/// - Hosts with a plan (sim/cluster/host_plan.h) take longer or shorter over an operation of a
/// lane, and
///   stand still while they are away; one that never returns never ends what it has begun.
/// - Under a library of collectives (sim/session/collective_pace.h) a rank sends so much later,
/// each
///   hop takes so much longer, and occupies its way for as long as the library does.
/// - Cancelling stops a graph's transfers, frees its lanes and satisfies the edges that lead from
///   it to other graphs.
///   A cancelled graph has no further events.
namespace gradwire::sim {

/// Times of whole collectives in closed form, for networks that do not expand collectives.
class CollectiveCosts {
 public:
  virtual ~CollectiveCosts() = default;
  struct Cost {
    Seconds duration{0};  ///< from the moment at which all ranks are ready
    Bytes payload{0};     ///< of all transfers
    Bytes wire{0};
    std::int64_t transfers = 0;
  };
  virtual Cost cost(const CollectiveSpec& spec, std::span<const Bytes> bytes) = 0;
};

struct SessionOptions {
  Seconds transfer_limit{3600};
  std::uint64_t seed = 1;  ///< of the spread of hosts' times
  /// Not null: collectives are not expanded; every rank is done `duration` after the last is ready.
  CollectiveCosts* closed_form = nullptr;
  TransportSettings transport = {};  ///< whose library paces collectives
};

class GraphSession {
 public:
  /// The three arguments are used, not owned, and must outlive the session.
  GraphSession(const Cluster& cluster, Network& network, const SessionOptions& options);
  ~GraphSession();
  GraphSession(const GraphSession&) = delete;
  GraphSession& operator=(const GraphSession&) = delete;

  // Functions of sim::Executor.
  /// Throws what submit() throws of a submission by itself.
  void check(const Submission& submission) const;
  GraphId submit(const Submission& submission);
  bool advance(Seconds until, std::vector<Event>& events);
  void cancel(GraphId graph);
  Seconds now() const { return Seconds(now_); }
  const Timeline& timeline(GraphId graph) const;
  std::span<const MissingData> missing(GraphId graph) const;
  void forget(GraphId graph);
  std::string describe_unfinished(GraphId graph) const;
  /// The template of a graph that is not forgotten.
  const GraphTemplate& graph_of(GraphId graph) const;

 private:
  struct Run;         // one submitted graph (sim/session/session_run.h)
  struct Collective;  // one running collective of it

  enum class TimerKind : std::uint8_t { kRelease, kLaneEnd, kReduced, kClosedForm, kCalled, kLate };
  struct Timer {
    double time = 0;
    std::uint64_t order = 0;
    GraphId graph = 0;
    std::uint32_t index = 0;  ///< operation, or slot for kReduced, kCalled, kLate
    TimerKind kind = TimerKind::kRelease;
  };
  static constexpr std::size_t kLanesPerHost = 3;
  struct Waiting {
    double ready = 0;
    GraphId graph = 0;
    OpIndex op = 0;
  };
  struct LaneState {
    GraphId graph = 0;  ///< running operation; 0 = idle
    OpIndex op = 0;
    std::vector<Waiting> waiting;  ///< heap
    bool listed = false;           ///< in dirty_lanes_
  };
  static constexpr std::int32_t kNotInFlight = -2;
  /// A transfer in flight, or a hop that is being added. Slots are linked in order of start, so
  /// that the oldest one's limit is the next to pass.
  struct alignas(64) Slot {
    GraphId graph = 0;
    HopTransfer hop;
    double deadline = 0;
    OpIndex op = 0;
    std::uint32_t generation = 0;
    std::int32_t previous = kNotInFlight;
    std::int32_t next = -1;
  };
  struct OpenGate {
    GraphId graph = 0;
    std::uint32_t gate = 0;
  };
  struct Arrival {
    GraphId graph = 0;
    OpIndex op = 0;
    HopTransfer hop;
  };

  Run* find(GraphId graph) const;
  Run* look_up(GraphId graph) const;
  Run& get(GraphId graph) const;
  std::shared_ptr<const GraphIndex> index_of(const GraphPtr& graph);
  void link_after(Run& run, std::span<const CrossEdge> after);

  double next_instant(double until) const;
  void settle();
  void run_timer(const Timer& timer);
  void release(Run& run);
  void on_network(const Delivery& delivery);
  void expire_transfers();
  void fail_transfer(std::int32_t slot);

  void open_gate(Run& run, std::uint32_t gate);
  void source_ended(Run& run, std::uint32_t source);
  void satisfy(Run& run, std::uint32_t gate);
  void start_operation(Run& run, OpIndex op);
  void end_operation(Run& run, OpIndex op);
  void queue_on_lane(Run& run, OpIndex op);
  void dispatch_lanes();
  void dispatch(std::size_t lane);
  void run_until_end(Run& run, OpIndex op);
  void list_lane(std::size_t lane);
  std::size_t lane_of(const GraphTemplate& graph, OpIndex op) const;

  Collective& collective_of(Run& run, OpIndex op);
  void open_collective(Run& run, OpIndex op, Collective& collective);
  void rank_ready(Run& run, OpIndex op, std::uint32_t gate);
  void call_rank(Run& run, OpIndex op, std::uint32_t gate);
  void closed_form_ready(Run& run, OpIndex op, Collective& collective);
  void start_hops(Run& run, OpIndex op);
  void start_transfer(Run& run, OpIndex op, const HopTransfer& hop, int source, int destination,
                      Bytes occupied);
  void run_slot(const Timer& timer);
  void hop_arrived(Run& run, OpIndex op, const HopTransfer& hop);
  void take_hop(Run& run, OpIndex op, Collective& collective, const HopTransfer& hop);
  void delay_hop(Run& run, OpIndex op, Seconds by, const HopTransfer& hop, TimerKind kind);
  void add_hop(Run& run, OpIndex op, Collective& collective, const HopTransfer& hop);
  void hop_delivered(Run& run, OpIndex op, Collective& collective, const HopTransfer& hop);
  void tell_sender(Run& run, OpIndex op, Collective& collective, const HopTransfer& hop);
  void note_rank(Run& run, OpIndex op, Collective& collective, int rank);
  void mark_rank_done(Run& run, OpIndex op, Collective& collective, std::uint32_t rank);

  std::int32_t take_slot(GraphId graph, OpIndex op, const HopTransfer& hop);
  void free_slot(std::int32_t slot);
  void link_slot(std::int32_t slot);
  void unlink_slot(std::int32_t slot);
  int host_of_rank(const CollectiveSpec& spec, int rank) const;
  void emit(EventKind kind, GraphId graph, OpIndex op, int host);

  const Cluster& cluster_;
  Network& network_;
  SessionOptions options_;
  double now_ = 0;
  std::deque<std::unique_ptr<Run>> runs_;  // runs_[id - first_id_]; null = forgotten
  GraphId first_id_ = 1;
  mutable Run* last_found_ = nullptr;  // most look-ups ask for the same one
  struct CachedIndex {
    GraphPtr graph;
    std::shared_ptr<const GraphIndex> index;
  };
  std::vector<CachedIndex> indices_;  // most recently used last
  EventHeap<Timer> timers_;
  std::vector<LaneState> lanes_;  // [hosts * 3]
  std::vector<std::size_t> dirty_lanes_;
  std::vector<Slot> slots_;
  std::int32_t free_slot_ = -1;  // first of those that are free, linked by `next`
  std::int32_t oldest_slot_ = -1;
  std::int32_t newest_slot_ = -1;
  std::vector<OpenGate> open_gates_;  // work of this instant, first in first out
  std::size_t next_gate_ = 0;
  std::vector<Arrival> arrivals_;  // of empty transfers
  std::size_t next_arrival_ = 0;
  std::vector<HopTransfer> start_;  // scratch
  std::vector<Delivery> delivered_;
  std::vector<Event>* events_ = nullptr;
};

}  // namespace gradwire::sim
