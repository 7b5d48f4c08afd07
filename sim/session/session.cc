#include "sim/session/session.h"

#include <algorithm>
#include <utility>

#include "sim/session/session_hops.h"

namespace gradwire::sim {

GraphSession::GraphSession(const Cluster& cluster, Network& network, const SessionOptions& options)
    : cluster_(cluster),
      network_(network),
      options_(options),
      now_(network.now().value()),
      lanes_(static_cast<std::size_t>(cluster.host_count()) * kLanesPerHost) {}

GraphSession::~GraphSession() = default;

GraphSession::Run* GraphSession::look_up(GraphId graph) const {
  if (graph < first_id_ || graph - first_id_ >= runs_.size()) return nullptr;
  Run* run = runs_[graph - first_id_].get();
  if (run != nullptr) last_found_ = run;
  return run;
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
    // What is left of cancelled transfers may be sent again for ever: nobody waits for it.
    if (limit >= kForever.value() && oldest_slot_ < 0) break;
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
  if (timer.kind == TimerKind::kReduced || timer.kind == TimerKind::kCalled ||
      timer.kind == TimerKind::kLate) {
    run_slot(timer);
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
    start_transfer(run, op, hop, run.graph->worker[op], run.graph->peer[op], hop.bytes);
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

void GraphSession::emit(EventKind kind, GraphId graph, OpIndex op, int host) {
  events_->push_back({Seconds(now_), kind, {graph, op}, host});
}

}  // namespace gradwire::sim
