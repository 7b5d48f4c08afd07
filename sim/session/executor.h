#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "sim/graph/step_graph.h"
#include "sim/graph/timeline.h"
#include "sim/session/detail.h"
#include "sim/session/network.h"
#include "sim/transport/transport_settings.h"

/// Executors run step graphs on a virtual (or real) clock and give back timelines. An executor is a
/// session: it keeps its clock, its lanes' ready times and the network's state between graphs.
namespace gradwire::sim {

class Payloads;  // sim/graph/payloads.h

struct Submission {
  GraphPtr graph;
  std::span<const Bytes> bytes;      ///< [graph->bytes_begin.back()], copied
  std::span<const Seconds> seconds;  ///< [graph->size()], copied
  Seconds not_before{0};             ///< no operation starts earlier
  std::span<const CrossEdge> after = {};
  /// What the messages hold, copied where it is used; null: an executor that sends some invents it.
  const Payloads* payloads = nullptr;
};

enum class EventKind : std::uint8_t {
  kOperationEnded,  ///< a whole operation, collectives included
  kRankDone,        ///< one rank of a collective (host = that worker)
  kTransferFailed,  ///< it can never finish, or met the executor's time limit
  kGraphEnded,
};

struct Event {
  Seconds time{0};
  EventKind kind = EventKind::kOperationEnded;
  OpRef op;
  std::int32_t host = -1;
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual std::string_view name() const = 0;
  /// "simulated", "emulated", "predicted": the provenance of its times.
  virtual std::string_view provenance() const = 0;

  /// How finely `flow` simulates; empty: what is sent first decides, or there is no choice.
  virtual std::optional<Detail> detail() const { return std::nullopt; }

  virtual GraphId submit(const Submission& submission) = 0;
  /// Runs until the next event, at most until `until`, and appends all events of one instant.
  /// Returns false when nothing is left to happen before `until`.
  virtual bool advance(Seconds until, std::vector<Event>& events) = 0;
  virtual void cancel(GraphId graph) = 0;
  virtual Seconds now() const = 0;

  /// Valid until forget(graph).
  virtual const Timeline& timeline(GraphId graph) const = 0;
  /// What the graph's transfers have lost so far, in order of arrival; valid until the executor is
  /// advanced or the graph forgotten. Empty where everything arrives.
  virtual std::span<const MissingData> missing(GraphId) const { return {}; }
  virtual void forget(GraphId graph) = 0;
  virtual std::vector<ChannelRecord> channels() const = 0;
  /// For messages: the operations of `graph` that have not ended, and what holds them.
  virtual std::string describe_unfinished(GraphId graph) const;
};

/// Runs until every operation of `graph` has ended. Throws SimError naming what cannot finish.
const Timeline& run_to_end(Executor& executor, GraphId graph);

struct ExecutorOptions {
  TransportSettings transport;
  std::uint64_t seed = 1;
  /// A transfer that takes longer (virtual time) has failed.
  Seconds transfer_limit{3600};
  /// `flow`: what is symmetric is simulated once (sim/folding/folding_executor.h). Results are the
  /// same, to rounding.
  bool fold = true;
  /// `flow`: per packet or fluid; empty: as sim/flow/choose_detail.h chooses.
  std::optional<Detail> detail;
  /// `packet`: seconds of wall clock without an answer after which the process is killed.
  Seconds wall_limit{120};
  /// `packet`: path of gradwire-packet; empty = beside the running program.
  std::string packet_program;
  /// `packet`: called about twice a second while it works, with the virtual time and the events so
  /// far. If it returns false the simulation is stopped and the call under way throws.
  std::function<bool(Seconds now, std::uint64_t events)> on_progress;
  /// `packet`: keeps books of every segment (sim/packet/segment_books.h), at a quarter more time.
  bool count_segments = false;
  /// `packet`: a folder for captures, HOST.pcap of each host's IP packets; empty = none.
  std::string pcap_folder;
  /// `packet`: a file for ns-3's flow monitor (XML), written when the executor ends; empty = none.
  std::string flow_monitor;
};

}  // namespace gradwire::sim
