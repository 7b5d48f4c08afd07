#include "sim/timeline_summary.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "sim/graph_index.h"

namespace gradwire::sim {
namespace {

/// Length of the union of intervals.
double covered(std::vector<std::pair<double, double>>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  double total = 0;
  double until = -1;
  for (const auto& [start, end] : intervals) {
    if (end <= until) continue;
    total += end - std::max(start, until);
    until = end;
  }
  return total;
}

}  // namespace

StepSplit split_of(const GraphTemplate& graph, const Timeline& timeline, int host) {
  StepSplit split;
  // Graphs overlap: this host's share of the step starts with its own first operation.
  double first = std::numeric_limits<double>::infinity();
  double last = timeline.start.value();
  std::vector<std::pair<double, double>> busy;
  for (OpIndex op = 0; op < graph.size(); ++op) {
    const OpRecord& record = timeline.ops[op];
    if (graph.kind[op] == OpKind::kCollective) {
      const auto number = static_cast<std::size_t>(graph.peer[op]);
      const CollectiveSpec& spec = graph.collectives[number];
      const int rank = rank_of(spec, host);
      if (rank < 0) continue;
      const bool server = rank == static_cast<int>(spec.members.size());
      const Seconds done =
          server ? record.end : timeline.rank_done[number][static_cast<std::size_t>(rank)];
      first = std::min(first, record.start.value() < 0 ? first : record.start.value());
      last = std::max(last, done.value());
      continue;
    }
    const bool concerned =
        graph.worker[op] == host || (graph.kind[op] == OpKind::kTransfer && graph.peer[op] == host);
    if (!concerned || record.end.value() < 0) continue;
    first = std::min(first, record.start.value());
    last = std::max(last, record.end.value());
    if (graph.lane[op] == Lane::kNone) continue;
    busy.emplace_back(record.start.value(), record.end.value());
    Seconds& part = graph.lane[op] == Lane::kCompute ? split.compute : split.codec;
    part += record.end - record.start;
  }
  if (first > last) return split;
  split.step = Seconds(last - first);
  split.exposed = split.step - Seconds(covered(busy));
  return split;
}

}  // namespace gradwire::sim
