// The half of GraphSession that keeps graphs: submitted, cancelled, asked for, forgotten.
#include <algorithm>
#include <cmath>

#include "sim/session/session_hops.h"

namespace gradwire::sim {
namespace {

constexpr std::size_t kCachedIndices = 16;

/// ", which ... never returns", if the host is away for ever.
std::string absence_of(const Cluster& cluster, int host, double now) {
  const HostPlan* plan = host >= 0 ? cluster.host_plan(host) : nullptr;
  if (plan == nullptr || plan->absences.empty()) return "";
  const HostPlan::Absence& last = plan->absences.back();
  if (last.end < kNeverReturns || last.begin.value() > now) return "";
  return ", which is away from " + std::to_string(last.begin.value()) + " s on and never returns";
}

}  // namespace

std::shared_ptr<const GraphIndex> GraphSession::index_of(const GraphPtr& graph) {
  for (std::size_t i = indices_.size(); i-- > 0;) {
    if (indices_[i].graph != graph) continue;
    std::rotate(indices_.begin() + static_cast<std::ptrdiff_t>(i),
                indices_.begin() + static_cast<std::ptrdiff_t>(i) + 1, indices_.end());
    return indices_.back().index;
  }
  if (indices_.size() == kCachedIndices) indices_.erase(indices_.begin());
  indices_.push_back({graph, std::make_shared<GraphIndex>(*graph)});
  return indices_.back().index;
}

void GraphSession::check(const Submission& submission) const {
  GRADWIRE_ASSERT(submission.graph != nullptr);
  const GraphTemplate& graph = *submission.graph;
  GRADWIRE_ASSERT(submission.bytes.size() == graph.bytes_begin.back());
  GRADWIRE_ASSERT(submission.seconds.size() == graph.size());
  if (graph.hosts > cluster_.host_count()) {
    throw SimError("submit", "a graph over " + std::to_string(graph.hosts) + " hosts",
                   "the cluster has " + std::to_string(cluster_.host_count()));
  }
  for (OpIndex op = 0; op < graph.size(); ++op) {
    const double seconds = submission.seconds[op].value();
    if (seconds >= 0 && std::isfinite(seconds)) continue;
    throw SimError("submit", "operation " + std::to_string(op),
                   "its duration is not finite or negative");
  }
  for (const Bytes bytes : submission.bytes) {
    if (bytes.count() < 0) throw SimError("submit", "a graph", "a size is negative");
  }
}

GraphId GraphSession::submit(const Submission& submission) {
  check(submission);
  auto owned = std::make_unique<Run>();
  Run& run = *owned;
  run.id = first_id_ + runs_.size();
  run.graph = submission.graph;
  run.index = index_of(submission.graph);
  run.bytes.assign(submission.bytes.begin(), submission.bytes.end());
  run.seconds.assign(submission.seconds.begin(), submission.seconds.end());
  run.pending = run.index->pending;
  run.source_done.assign(run.index->source_count(), false);
  run.collectives.resize(run.graph->collectives.size());
  run.unfinished = run.graph->size();
  run.not_before = std::max(now_, submission.not_before.value());
  run.timeline.graph = run.id;
  run.timeline.start = Seconds(run.not_before);
  run.timeline.ops.resize(run.graph->size());
  for (const CollectiveSpec& spec : run.graph->collectives) {
    run.timeline.rank_done.emplace_back(spec.members.size(), Seconds(-1));
  }
  link_after(run, submission.after);
  runs_.push_back(std::move(owned));
  timers_.push({run.not_before, 0, run.id, 0, TimerKind::kRelease});
  return run.id;
}

void GraphSession::link_after(Run& run, std::span<const CrossEdge> after) {
  std::vector<GateEdge> edges;
  for (const CrossEdge& edge : after) {
    GRADWIRE_ASSERT(edge.from.graph < run.id && edge.to < run.graph->size());
    Run* from = find(edge.from.graph);
    if (from == nullptr || from->cancelled) continue;
    GRADWIRE_ASSERT(edge.from.op < from->graph->size());
    edges.clear();
    expand_edge(*from->graph, edge.from.op, *run.graph, edge.to, edges);
    for (const GateEdge& part : edges) {
      const std::uint32_t source = from->index->source_begin[edge.from.op] + part.source;
      if (from->source_done[source]) continue;
      const std::uint32_t gate = run.index->gate_begin[edge.to] + part.gate;
      if (from->cross.empty()) from->cross_first.assign(from->source_done.size(), -1);
      std::int32_t& first = from->cross_first[source];
      from->cross.push_back({source, first, run.id, gate});
      first = static_cast<std::int32_t>(from->cross.size()) - 1;
      ++run.pending[gate];
    }
  }
}

void GraphSession::cancel(GraphId graph) {
  Run* run = find(graph);
  if (run == nullptr || run->cancelled || run->unfinished == 0) return;
  run->cancelled = true;
  for (std::int32_t s = oldest_slot_; s >= 0;) {
    const Slot& slot = slots_[static_cast<std::size_t>(s)];
    const std::int32_t next = slot.next;
    if (slot.graph == graph) {
      // A transfer counts when it has arrived: its bytes on the wire do too.
      Bytes& payload = run->record(slot.op).payload;
      payload = Bytes(payload.count() - slot.hop.bytes.count());
      network_.cancel(id_of(slot.generation, s));
      unlink_slot(s);
      free_slot(s);
    }
    s = next;
  }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].graph != graph) continue;
    lanes_[lane].graph = 0;
    list_lane(lane);
  }
  for (const Run::CrossSuccessor& edge : run->cross) {
    Run* to = find(edge.graph);
    if (!run->source_done[edge.source] && to != nullptr && !to->cancelled) satisfy(*to, edge.gate);
  }
}

const Timeline& GraphSession::timeline(GraphId graph) const {
  return get(graph).timeline;
}

std::span<const MissingData> GraphSession::missing(GraphId graph) const {
  return get(graph).missing;
}

const GraphTemplate& GraphSession::graph_of(GraphId graph) const {
  return *get(graph).graph;
}

void GraphSession::forget(GraphId graph) {
  if (find(graph) == nullptr) return;
  cancel(graph);
  last_found_ = nullptr;
  runs_[graph - first_id_].reset();
  while (!runs_.empty() && runs_.front() == nullptr) {
    runs_.pop_front();
    ++first_id_;
  }
}

std::string GraphSession::describe_unfinished(GraphId graph) const {
  constexpr std::size_t kShown = 4;
  const Run& run = get(graph);
  std::string text = std::to_string(run.unfinished) + " of " + std::to_string(run.graph->size()) +
                     " operations have not ended: ";
  std::size_t shown = 0;
  for (OpIndex op = 0; op < run.graph->size() && shown < kShown; ++op) {
    const OpRecord& record = run.timeline.ops[op];
    if (record.end.value() >= 0) continue;
    if (shown++ > 0) text += ", ";
    text += std::string(name_of(run.graph->kind[op])) + " " + std::to_string(op) + " \"" +
            run.graph->labels[run.graph->label[op]] + "\"";
    if (run.graph->worker[op] >= 0) text += " of host " + std::to_string(run.graph->worker[op]);
    text += record.start.value() >= 0 ? " (started)" : " (never started)";
    text += absence_of(cluster_, run.graph->worker[op], now_);
  }
  return run.unfinished > kShown ? text + ", ..." : text;
}

}  // namespace gradwire::sim
