#pragma once
#include <array>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "emulator/exchange/exchange.h"
#include "emulator/hosts/host_view.h"
#include "emulator/hosts/lane.h"
#include "emulator/hosts/task_pool.h"
#include "sim/cluster/cluster.h"

/// One host's part of the submitted graphs, in real time: opens gates when what they wait for has
/// ended (here, or elsewhere as reported by the hub), keeps lanes busy, and plays its part of
/// transfers and collectives through sim::interpret_host over the Exchange.
namespace gradwire::emulator {

/// What happened to an operation here. All instants are CLOCK_MONOTONIC.
struct Report {
  GraphId graph = 0;
  OpIndex op = 0;
  std::int32_t source =
      -1;             ///< the source (sim/graph/graph_index.h) that ended, relative to op; -1 none
  Seconds start{-1};  ///< the host's part started; -1 = nothing of its own
  Seconds end{-1};    ///< of `source`
  bool sent = false;  ///< the host has sent all it had to; the rest of the fields is filled
  std::int64_t payload = 0;
  std::int64_t wire = 0;
  std::int64_t transfers = 0;
  std::int64_t retransmissions = 0;
};

struct HostSubmission {
  GraphId id = 0;
  std::shared_ptr<const HostView> view;
  std::vector<Bytes> bytes;
  std::vector<Seconds> seconds;
  Seconds not_before{0};                              ///< CLOCK_MONOTONIC
  std::shared_ptr<const PayloadIndex> payloads = {};  ///< null: messages hold the pattern
  struct Edge {
    GraphId graph = 0;
    OpIndex from = 0;
    OpIndex to = 0;
  };
  std::vector<Edge> after;
};

class HostRunner {
 public:
  /// Called on any thread; must only take notes. `failed` is called once with a reason.
  struct Callbacks {
    std::function<void(const Report&)> report;
    /// `source` of `graph` ended here, and `host` waits for it.
    std::function<void(std::int32_t host, GraphId graph, std::uint32_t source)> tell;
    std::function<void(const std::string&)> failed;
  };

  HostRunner(int host, const sim::TransportSettings& transport, Callbacks callbacks);
  HostRunner(const HostRunner&) = delete;  // its threads refer to it
  HostRunner& operator=(const HostRunner&) = delete;
  ~HostRunner();

  /// Before anything is submitted; `exchange` must outlive this object's work (it is used, not
  /// owned) and calls message_arrived().
  void use(Exchange& exchange) { exchange_ = &exchange; }

  void submit(HostSubmission submission);
  void source_ended(GraphId graph, std::uint32_t source);
  void message_arrived(GraphId graph, OpIndex op);
  void cancel(GraphId graph);
  void forget(GraphId graph);

 private:
  struct Run;
  using RunPtr = std::shared_ptr<Run>;
  class MessageHandler;
  using Lock = std::unique_lock<std::mutex>;

  RunPtr find(GraphId graph) const;
  void link_after(const RunPtr& run, const std::vector<HostSubmission::Edge>& after);
  void release_in_time();
  void release(const RunPtr& run);
  void satisfy(const RunPtr& run, std::uint32_t gate, Seconds now);
  void open_gate(const RunPtr& run, std::uint32_t gate, Seconds now);
  void end_source(const RunPtr& run, std::uint32_t source, Seconds now, bool observed_here);
  void tell_listeners(const RunPtr& run, std::uint32_t source);
  void lane_ended(const LaneWork& work, Seconds start, Seconds end);
  void start_part(const RunPtr& run, OpIndex op);
  void play_part(const RunPtr& run, OpIndex op);
  void end_part(const RunPtr& run, OpIndex op, const MessageHandler& handler, Seconds end,
                std::int64_t retransmissions);
  void rank_arrived(const RunPtr& run, OpIndex op, int rank);

  const int host_;
  const sim::TransportSettings transport_;
  const Callbacks callbacks_;
  Exchange* exchange_ = nullptr;

  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::map<GraphId, RunPtr> runs_;
  std::multimap<double, GraphId> releases_;
  std::set<std::pair<GraphId, OpIndex>> arrived_;
  bool stop_ = false;

  std::thread releaser_;
  std::array<std::unique_ptr<LaneThread>, 3> lanes_;
  TaskPool pool_;
};

}  // namespace gradwire::emulator
