#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "sim/folding/folding_executor.h"
#include "tests/sim/graphs.h"

/// Runs whose folded and unfolded outcomes are held against each other.
namespace gradwire::sim::testing {

/// All that an executor says.
struct Outcome {
  std::vector<Timeline> timelines;  ///< by graph
  std::vector<Event> events;
  std::vector<ChannelRecord> channels;
  std::int32_t columns = 0;  ///< folded at the end; 0: not
};

inline std::int32_t columns_of(const Executor& executor) {
  const auto* folding = dynamic_cast<const FoldingExecutor*>(&executor);
  return folding != nullptr ? folding->columns() : 0;
}

/// The largest relative difference of two times, or infinity where a count differs.
class Difference {
 public:
  void time(Seconds a, Seconds b) {
    const double scale = std::max(std::abs(a.value()), std::abs(b.value()));
    if (scale > 0) worst_ = std::max(worst_, std::abs(a.value() - b.value()) / scale);
  }
  template <class Count>
  void count(const Count& a, const Count& b) {
    if (a != b) worst_ = std::numeric_limits<double>::infinity();
  }
  double worst() const { return worst_; }

 private:
  double worst_ = 0;
};

inline void compare(const Timeline& a, const Timeline& b, Difference& difference) {
  difference.count(a.ops.size(), b.ops.size());
  difference.count(a.rank_done.size(), b.rank_done.size());
  if (difference.worst() > 1) return;
  difference.time(a.start, b.start);
  difference.time(a.end, b.end);
  for (std::size_t op = 0; op < a.ops.size(); ++op) {
    difference.time(a.ops[op].start, b.ops[op].start);
    difference.time(a.ops[op].end, b.ops[op].end);
    difference.count(a.ops[op].payload, b.ops[op].payload);
    difference.count(a.ops[op].wire, b.ops[op].wire);
    difference.count(a.ops[op].transfers, b.ops[op].transfers);
    difference.count(a.ops[op].retransmissions, b.ops[op].retransmissions);
  }
  for (std::size_t c = 0; c < a.rank_done.size(); ++c) {
    difference.count(a.rank_done[c].size(), b.rank_done[c].size());
    if (difference.worst() > 1) return;
    for (std::size_t r = 0; r < a.rank_done[c].size(); ++r)
      difference.time(a.rank_done[c][r], b.rank_done[c][r]);
  }
}

/// Events of one instant may come in any order.
inline void compare_events(std::vector<Event> a, std::vector<Event> b, Difference& difference) {
  const auto key = [](const Event& e) { return std::tuple(e.op.graph, e.kind, e.op.op, e.host); };
  const auto before = [&](const Event& x, const Event& y) { return key(x) < key(y); };
  std::ranges::sort(a, before);
  std::ranges::sort(b, before);
  difference.count(a.size(), b.size());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference.count(key(a[i]), key(b[i]));
    difference.time(a[i].time, b[i].time);
  }
}

inline double difference(const Outcome& a, const Outcome& b) {
  Difference difference;
  difference.count(a.timelines.size(), b.timelines.size());
  for (std::size_t i = 0; i < std::min(a.timelines.size(), b.timelines.size()); ++i)
    compare(a.timelines[i], b.timelines[i], difference);
  compare_events(a.events, b.events, difference);
  difference.count(a.channels.size(), b.channels.size());
  for (std::size_t i = 0; i < std::min(a.channels.size(), b.channels.size()); ++i) {
    difference.count(a.channels[i].wire, b.channels[i].wire);
    difference.time(a.channels[i].busy, b.channels[i].busy);
  }
  return difference.worst();
}

/// One step after the other, two of them under way at a time: every operation of one that waits for
/// nothing in its own graph waits for the last operation of its host in the graph before, and
/// collectives for the last one.
inline std::vector<CrossEdge> edges_between(const GraphTemplate& graph, GraphId before,
                                            const GraphTemplate& last) {
  std::map<std::int32_t, OpIndex> last_of;  // by host; -1: of collectives
  for (OpIndex op = 0; op < last.size(); ++op) last_of[last.worker[op]] = op;
  std::vector<CrossEdge> edges;
  for (OpIndex op = 0; op < graph.size(); ++op) {
    if (!graph.dependencies(op).empty()) continue;
    const auto found = last_of.find(graph.worker[op]);
    if (found != last_of.end()) edges.push_back({{before, found->second}, op});
  }
  return edges;
}

inline Outcome play(Executor& executor, const std::vector<Step>& steps) {
  Outcome outcome;
  std::vector<GraphId> ids;
  std::size_t ended = 0;
  const auto submit_next = [&] {
    const Step& step = steps[ids.size()];
    std::vector<CrossEdge> after;
    if (!ids.empty() && ended < ids.size())
      after = edges_between(*step.graph, ids.back(), *steps[ids.size() - 1].graph);
    ids.push_back(submit(executor, step, Seconds(0), after));
  };
  while (ids.size() < std::min<std::size_t>(2, steps.size())) submit_next();
  std::vector<Event> events;
  while (executor.advance(kForever, events)) {
    const auto graphs = std::ranges::count_if(
        events, [](const Event& event) { return event.kind == EventKind::kGraphEnded; });
    for (const Event& event : events)
      if (event.kind == EventKind::kGraphEnded)
        outcome.timelines.push_back(executor.timeline(event.op.graph));
    ended += static_cast<std::size_t>(graphs);
    for (const Event& event : events)
      if (event.kind == EventKind::kGraphEnded) executor.forget(event.op.graph);
    outcome.events.insert(outcome.events.end(), events.begin(), events.end());
    events.clear();
    while (ids.size() < steps.size() && ids.size() < ended + 2) submit_next();
  }
  outcome.channels = executor.channels();
  outcome.columns = columns_of(executor);
  return outcome;
}

inline Outcome play(const Cluster& cluster, const std::vector<Step>& steps, bool fold,
                    const TransportSettings& transport = {}) {
  ExecutorOptions options;
  options.transport = transport;
  options.fold = fold;
  return play(*make("flow", cluster, options), steps);
}

/// Folded and unfolded are the same; returns the columns of the fold.
inline std::int32_t check_same(const Cluster& cluster, const std::vector<Step>& steps,
                               const TransportSettings& transport = {}) {
  const Outcome folded = play(cluster, steps, true, transport);
  const Outcome whole = play(cluster, steps, false, transport);
  CHECK(whole.columns == 0);
  CHECK_FALSE(whole.timelines.empty());
  CHECK(difference(folded, whole) <= 1e-9);
  return folded.columns;
}

}  // namespace gradwire::sim::testing
