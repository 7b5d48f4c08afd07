#include "sim/session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/session_run.h"

namespace gradwire::sim {
namespace {

constexpr std::size_t kLanesPerHost = 3;
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

GraphSession::GraphSession(const Cluster& cluster, Network& network, const SessionOptions& options)
    : cluster_(cluster),
      network_(network),
      options_(options),
      now_(network.now().value()),
      lanes_(static_cast<std::size_t>(cluster.host_count()) * kLanesPerHost) {}

GraphSession::~GraphSession() = default;

GraphSession::Run* GraphSession::find(GraphId graph) const {
  if (last_found_ != nullptr && last_found_->id == graph) return last_found_;
  if (graph < first_id_ || graph - first_id_ >= runs_.size()) return nullptr;
  Run* run = runs_[graph - first_id_].get();
  if (run != nullptr) last_found_ = run;
  return run;
}

GraphSession::Run& GraphSession::get(GraphId graph) const {
  Run* run = find(graph);
  GRADWIRE_ASSERT(run != nullptr);
  return *run;
}

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

double GraphSession::next_instant(double until) const {
  if (!open_gates_.empty() || !dirty_lanes_.empty()) return now_;  // a cancellation left work
  if (!timers_.empty()) until = std::min(until, timers_.top().time);
  if (oldest_slot_ >= 0) {
    until = std::min(until, slots_[static_cast<std::size_t>(oldest_slot_)].deadline);
  }
  return until;
}

bool GraphSession::advance(Seconds until, std::vector<Event>& events) {
  const std::size_t before = events.size();
  events_ = &events;
  for (;;) {
    const double limit = std::max(now_, next_instant(until.value()));
    delivered_.clear();
    network_.advance(Seconds(limit), delivered_);
    now_ = network_.now().value();
    for (const Delivery& delivery : delivered_) on_network(delivery);
    const bool work = !open_gates_.empty() || !dirty_lanes_.empty() || !delivered_.empty() ||
                      (!timers_.empty() && timers_.top().time <= now_);
    expire_transfers();
    settle();
    if (events.size() > before) break;
    if (!work && (now_ >= until.value() || limit >= kForever.value())) break;
  }
  events_ = nullptr;
  return events.size() > before;
}

void GraphSession::settle() {
  for (;;) {
    if (next_arrival_ < arrivals_.size()) {
      const Arrival arrival = arrivals_[next_arrival_++];
      if (Run* run = find(arrival.graph)) hop_arrived(*run, arrival.op, arrival.hop);
    } else if (next_gate_ < open_gates_.size()) {
      const OpenGate gate = open_gates_[next_gate_++];
      Run* run = find(gate.graph);
      if (run != nullptr && !run->cancelled) open_gate(*run, gate.gate);
    } else if (!timers_.empty() && timers_.top().time <= now_) {
      run_timer(timers_.pop());
    } else if (!dirty_lanes_.empty()) {
      dispatch_lanes();
    } else {
      break;
    }
  }
  arrivals_.clear();
  open_gates_.clear();
  next_arrival_ = next_gate_ = 0;
}

void GraphSession::run_timer(const Timer& timer) {
  if (timer.kind == TimerKind::kReduced) {
    const auto slot = static_cast<std::int32_t>(timer.index);
    const Slot done = slots_[timer.index];
    free_slot(slot);
    Run* run = find(timer.graph);
    if (run == nullptr || run->cancelled) return;
    hop_delivered(*run, done.op, collective_of(*run, done.op), done.hop);
    return;
  }
  Run* run = find(timer.graph);
  if (run == nullptr || run->cancelled) return;
  switch (timer.kind) {
    case TimerKind::kRelease:
      release(*run);
      break;
    case TimerKind::kLaneEnd:
      if (run->graph->lane[timer.index] != Lane::kNone) {
        const std::size_t lane = lane_of(*run->graph, timer.index);
        lanes_[lane].graph = 0;
        list_lane(lane);
      }
      end_operation(*run, timer.index);
      break;
    default: {
      const CollectiveSpec& spec = run->spec(timer.index);
      for (std::uint32_t r = 0; r <= spec.members.size(); ++r) {
        mark_rank_done(*run, timer.index, collective_of(*run, timer.index), r);
      }
    }
  }
}

void GraphSession::release(Run& run) {
  run.released = true;
  for (std::uint32_t gate = 0; gate < run.index->gate_count(); ++gate) {
    if (run.pending[gate] == 0) open_gates_.push_back({run.id, gate});
  }
}

void GraphSession::satisfy(Run& run, std::uint32_t gate) {
  GRADWIRE_ASSERT(run.pending[gate] > 0);
  if (--run.pending[gate] == 0 && run.released) open_gates_.push_back({run.id, gate});
}

void GraphSession::open_gate(Run& run, std::uint32_t gate) {
  const OpIndex op = run.index->gate_op[gate];
  if (run.graph->kind[op] == OpKind::kCollective) {
    rank_ready(run, op, gate - run.index->gate_begin[op]);
  } else {
    start_operation(run, op);
  }
}

void GraphSession::start_operation(Run& run, OpIndex op) {
  if (run.graph->kind[op] == OpKind::kTransfer) {
    run.record(op).start = Seconds(now_);
    HopTransfer hop;
    hop.bytes = run.bytes_of(op)[0];
    start_transfer(run, op, hop, run.graph->worker[op], run.graph->peer[op]);
  } else if (run.graph->lane[op] == Lane::kNone) {
    run.record(op).start = Seconds(now_);
    run_until_end(run, op);
  } else {
    queue_on_lane(run, op);
  }
}

void GraphSession::end_operation(Run& run, OpIndex op) {
  run.record(op).end = Seconds(now_);
  run.timeline.end = Seconds(now_);
  --run.unfinished;
  emit(EventKind::kOperationEnded, run.id, op, -1);
  source_ended(run, run.index->source_begin[op + 1] - 1);
  if (run.unfinished == 0) emit(EventKind::kGraphEnded, run.id, 0, -1);
}

void GraphSession::source_ended(Run& run, std::uint32_t source) {
  run.source_done[source] = true;
  for (const std::uint32_t gate : run.index->gates_after(source)) satisfy(run, gate);
  if (run.cross.empty()) return;
  for (std::int32_t e = run.cross_first[source]; e >= 0;) {
    const Run::CrossSuccessor& edge = run.cross[static_cast<std::size_t>(e)];
    Run* to = find(edge.graph);
    if (to != nullptr && !to->cancelled) satisfy(*to, edge.gate);
    e = edge.next;
  }
}

std::size_t GraphSession::lane_of(const GraphTemplate& graph, OpIndex op) const {
  return static_cast<std::size_t>(graph.worker[op]) * kLanesPerHost +
         static_cast<std::size_t>(graph.lane[op]) - 1;
}

void GraphSession::list_lane(std::size_t lane) {
  if (!std::exchange(lanes_[lane].listed, true)) dirty_lanes_.push_back(lane);
}

namespace {

/// For std heaps, which keep the greatest on top: a starts after b.
constexpr auto kStartsAfter = [](const auto& a, const auto& b) {
  if (a.ready != b.ready) return a.ready > b.ready;
  return a.graph != b.graph ? a.graph > b.graph : a.op > b.op;
};

}  // namespace

void GraphSession::queue_on_lane(Run& run, OpIndex op) {
  const std::size_t lane = lane_of(*run.graph, op);
  std::vector<Waiting>& waiting = lanes_[lane].waiting;
  waiting.push_back({now_, run.id, op});
  std::push_heap(waiting.begin(), waiting.end(), kStartsAfter);
  list_lane(lane);
}

void GraphSession::dispatch_lanes() {
  for (const std::size_t lane : dirty_lanes_) {
    lanes_[lane].listed = false;
    dispatch(lane);
  }
  dirty_lanes_.clear();
}

void GraphSession::dispatch(std::size_t lane) {
  LaneState& state = lanes_[lane];
  while (state.graph == 0 && !state.waiting.empty()) {
    std::pop_heap(state.waiting.begin(), state.waiting.end(), kStartsAfter);
    const Waiting next = state.waiting.back();
    state.waiting.pop_back();
    Run* run = find(next.graph);
    if (run == nullptr || run->cancelled) continue;
    state.graph = next.graph;
    state.op = next.op;
    run->record(next.op).start = Seconds(now_);
    run_until_end(*run, next.op);
  }
}

void GraphSession::run_until_end(Run& run, OpIndex op) {
  double end = now_ + run.seconds[op].value();
  const int host = run.graph->worker[op];
  if (const HostPlan* plan = cluster_.host_plan(host)) {
    const double seconds = spread_seconds(*plan, run.seconds[op].value(), options_.seed,
                                          static_cast<std::uint32_t>(host), run.id, op);
    end = end_of_work(*plan, now_, seconds);
  }
  // A host that never returns ends nothing; describe_unfinished() says so.
  if (end < kForever.value()) timers_.push({end, 0, run.id, op, TimerKind::kLaneEnd});
}

void GraphSession::cancel(GraphId graph) {
  Run* run = find(graph);
  if (run == nullptr || run->cancelled || run->unfinished == 0) return;
  run->cancelled = true;
  for (std::int32_t s = oldest_slot_; s >= 0;) {
    const Slot& slot = slots_[static_cast<std::size_t>(s)];
    const std::int32_t next = slot.next;
    if (slot.graph == graph) {
      network_.cancel(static_cast<TransferId>(slot.generation) << 32 | static_cast<TransferId>(s));
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

void GraphSession::emit(EventKind kind, GraphId graph, OpIndex op, int host) {
  events_->push_back({Seconds(now_), kind, {graph, op}, host});
}

}  // namespace gradwire::sim
