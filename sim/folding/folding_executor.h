#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "sim/folding/find_columns.h"
#include "sim/folding/folded_graph.h"
#include "sim/folding/request_log.h"
#include "sim/session/executor.h"

namespace gradwire::sim {

/// An executor that simulates a few columns of hosts in place of all, for as long as all are
/// images of each other, and says of each host what became of its image: the same events,
/// timelines and channels, to the rounding of sums.
///
/// The first use of a graph decides on the columns (find_columns.h). What is submitted later is
/// folded if its columns do the same; with the first graph that is not, the whole cluster takes
/// over: all requests so far are made again there, as each connection's state hangs on its past.
/// That also happens where a transfer fails, before the log of requests becomes too large, and
/// where images turn out to differ: the engine does what comes at one instant one by one, and of
/// streams that meet others who is first may matter. So images' ends and how long their links were
/// busy are compared at every event.
class FoldingExecutor final : public Executor {
 public:
  using Make = std::function<std::unique_ptr<Executor>(std::unique_ptr<const Cluster> cluster)>;
  /// `make`: the executor of a cluster.
  FoldingExecutor(std::unique_ptr<const Cluster> cluster, const TransportSettings& transport,
                  Make make);

  std::string_view name() const override { return "flow"; }
  std::string_view provenance() const override { return "simulated"; }
  std::optional<Detail> detail() const override { return inner_ ? inner_->detail() : std::nullopt; }
  GraphId submit(const Submission& submission) override;
  bool advance(Seconds until, std::vector<Event>& events) override;
  void cancel(GraphId graph) override;
  Seconds now() const override { return now_; }
  const Timeline& timeline(GraphId graph) const override;
  std::span<const MissingData> missing(GraphId graph) const override;
  void forget(GraphId graph) override;
  std::vector<ChannelRecord> channels() const override;
  std::string describe_unfinished(GraphId graph) const override;

  /// Columns that are simulated as a few; 0: all hosts are simulated.
  std::int32_t columns() const { return found_ ? found_->columns.count() : 0; }

 private:
  /// A graph that was submitted folded.
  struct Run {
    std::shared_ptr<const FoldedGraph> graph;
    mutable Timeline timeline;
    mutable std::uint64_t version = 0;  ///< of version_ then; 0: never
  };
  /// An event: its graph, kind, operation and host.
  using Key = std::tuple<GraphId, EventKind, OpIndex, std::int32_t>;

  void begin(const Submission& first);
  std::optional<GraphId> submit_folded(const Submission& submission);
  std::shared_ptr<const FoldedGraph> folded(const GraphPtr& graph);
  bool fold_after(const Submission& submission, const FoldedGraph& graph,
                  std::vector<CrossEdge>& after) const;
  bool are_even(const std::vector<Event>& events) const;
  bool carry_the_same() const;
  bool is_first(const Event& event) const;
  void append_images(const Event& event, std::vector<Event>& events) const;
  bool advance_folded(Seconds until, std::vector<Event>& events);
  bool advance_whole(Seconds until, std::vector<Event>& events);
  void unfold(const std::vector<Event>& unreported = {});
  void note_reported(GraphId graph, const Run& run);
  void drop_reported(std::vector<Event>& events, std::size_t first);

  std::unique_ptr<const Cluster> cluster_;  // until an executor of it is made
  TransportSettings transport_;
  Make make_;
  Seconds now_{0};
  std::unique_ptr<Executor> inner_;    // of the folded cluster, or of the whole; null: of neither
  std::optional<FoundColumns> found_;  // where folded
  std::vector<std::shared_ptr<const FoldedGraph>> graphs_;  // most recently folded last
  std::map<GraphId, Run> runs_;
  RequestLog log_;
  std::uint64_t version_ = 1;         // another one after each advance()
  std::vector<Event> folded_events_;  // scratch
  // Once it is the whole cluster again: events that were reported before, of graphs not forgotten,
  // and those that are still to be.
  std::set<Key> reported_;
  std::vector<Event> pending_;
};

}  // namespace gradwire::sim
