#include "emulator/hosts/host_runner.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/hosts/host_run.h"

namespace gradwire::emulator {

using sim::Lane;
using sim::OpKind;

HostRunner::HostRunner(int host, const sim::TransportSettings& transport, Callbacks callbacks)
    : host_(host), transport_(transport), callbacks_(std::move(callbacks)) {
  for (auto& lane : lanes_)
    lane = std::make_unique<LaneThread>(
        [this](const LaneWork& work, Seconds start, Seconds end) { lane_ended(work, start, end); });
  releaser_ = std::thread([this] { release_in_time(); });
}

HostRunner::~HostRunner() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    released_.notify_all();
  }
  releaser_.join();
}

HostRunner::RunPtr HostRunner::find(GraphId graph) const {
  const auto found = runs_.find(graph);
  return found == runs_.end() ? nullptr : found->second;
}

void HostRunner::submit(HostSubmission submission) {
  auto run = std::make_shared<Run>();
  run->id = submission.id;
  run->view = std::move(submission.view);
  run->bytes = std::move(submission.bytes);
  run->seconds = std::move(submission.seconds);
  run->payloads = std::move(submission.payloads);
  const sim::GraphIndex& index = run->view->index;
  run->pending = index.pending;
  run->source_done.assign(index.source_count(), false);
  run->part_open.assign(run->view->graph->size(), false);
  run->part_started.assign(run->view->graph->size(), false);
  run->part_ready.assign(run->view->graph->size(), Seconds(-1));
  const std::lock_guard lock(mutex_);
  link_after(run, submission.after);
  runs_[run->id] = run;
  releases_.emplace(submission.not_before.value(), run->id);
  released_.notify_all();
}

void HostRunner::link_after(const RunPtr& run, const std::vector<HostSubmission::Edge>& after) {
  std::vector<sim::GateEdge> parts;
  for (const HostSubmission::Edge& edge : after) {
    const RunPtr from = find(edge.graph);
    if (!from || from->cancelled) continue;
    const HostView& view = *from->view;
    parts.clear();
    sim::expand_edge(*view.graph, edge.from, *run->view->graph, edge.to, parts);
    for (const sim::GateEdge& part : parts) {
      const std::uint32_t source = view.index.source_begin[edge.from] + part.source;
      const std::uint32_t gate = run->view->index.gate_begin[edge.to] + part.gate;
      const std::int32_t owner = run->view->gate_owner(gate);
      if (owner == host_ && !from->source_done[source]) {
        from->cross.insert({source, {run->id, gate}});
        ++run->pending[gate];
      }
      if (owner == host_) continue;
      // The gate's owner need not have followed the earlier graph's operation: tell it.
      for (const std::uint32_t observed : view.parts(source)) {
        if (view.observer(observed) != host_) continue;
        if (from->source_done[observed])
          callbacks_.tell(owner, from->id, observed);
        else
          from->listeners.insert({observed, owner});
      }
    }
  }
}

void HostRunner::release_in_time() {
  constexpr double kPreciseStretch = 300e-6;
  Lock lock(mutex_);
  while (!stop_) {
    if (releases_.empty()) {
      released_.wait(lock);
      continue;
    }
    const auto [time, graph] = *releases_.begin();
    const double rest = time - monotonic_now().value();
    if (rest > kPreciseStretch) {
      const double nap = std::min(rest - kPreciseStretch, 1000.0);
      released_.wait_for(lock, std::chrono::duration<double>(nap));
      continue;
    }
    releases_.erase(releases_.begin());
    lock.unlock();
    sleep_until(Seconds(time));
    lock.lock();
    if (const RunPtr run = find(graph)) release(run);
  }
}

void HostRunner::release(const RunPtr& run) {
  const Seconds now = monotonic_now();
  run->released = true;
  for (std::uint32_t gate = 0; gate < run->view->index.gate_count(); ++gate)
    if (run->pending[gate] == 0 && run->view->gate_owner(gate) == host_) open_gate(run, gate, now);
  // A transfer's receiver has no gate of its own.
  for (OpIndex op = 0; op < run->view->graph->size(); ++op) {
    if (run->view->graph->kind[op] != OpKind::kTransfer || run->view->graph->peer[op] != host_)
      continue;
    run->part_open[op] = true;
    start_part(run, op);
  }
}

void HostRunner::satisfy(const RunPtr& run, std::uint32_t gate, Seconds now) {
  if (run->cancelled || run->view->gate_owner(gate) != host_) return;
  GRADWIRE_ASSERT(run->pending[gate] > 0);
  if (--run->pending[gate] == 0 && run->released) open_gate(run, gate, now);
}

void HostRunner::open_gate(const RunPtr& run, std::uint32_t gate, Seconds now) {
  if (run->cancelled) return;
  const OpIndex op = run->view->index.gate_op[gate];
  const sim::GraphTemplate& graph = *run->view->graph;
  run->part_ready[op] = now;
  if (graph.kind[op] == OpKind::kTransfer || graph.kind[op] == OpKind::kCollective) {
    run->part_open[op] = true;
    start_part(run, op);
    return;
  }
  const LaneWork work{now, run->id, op, run->seconds[op]};
  if (graph.lane[op] != Lane::kNone) {
    lanes_[static_cast<std::size_t>(graph.lane[op]) - 1]->add(work);
    return;
  }
  pool_.start(
      [this, work] { lane_ended(work, work.ready, sleep_until(work.ready + work.duration)); });
}

void HostRunner::lane_ended(const LaneWork& work, Seconds start, Seconds end) {
  const std::lock_guard lock(mutex_);
  const RunPtr run = find(work.graph);
  if (!run || run->cancelled) return;
  Report report;
  report.graph = work.graph;
  report.op = work.op;
  report.source = 0;
  report.start = start;
  report.end = end;
  callbacks_.report(report);
  end_source(run, run->view->index.source_begin[work.op], end, true);
}

void HostRunner::end_source(const RunPtr& run, std::uint32_t source, Seconds now,
                            bool observed_here) {
  if (run->source_done[source]) return;
  run->source_done[source] = true;
  if (observed_here) tell_listeners(run, source);
  for (const std::uint32_t gate : run->view->index.gates_after(source)) satisfy(run, gate, now);
  const auto [first, last] = run->cross.equal_range(source);
  for (auto edge = first; edge != last; ++edge)
    if (const RunPtr to = find(edge->second.graph)) satisfy(to, edge->second.gate, now);
  if (run->view->observer(source) < 0) return;
  for (const std::uint32_t composite : run->view->composites(run->view->op_of_source(source))) {
    const std::vector<std::uint32_t> parts = run->view->parts(composite);
    if (std::all_of(parts.begin(), parts.end(), [&](auto s) { return run->source_done[s]; }))
      end_source(run, composite, now, false);
  }
}

void HostRunner::tell_listeners(const RunPtr& run, std::uint32_t source) {
  for (const std::int32_t host : run->view->listeners(source))
    if (host != host_) callbacks_.tell(host, run->id, source);
  const auto [first, last] = run->listeners.equal_range(source);
  for (auto listener = first; listener != last; ++listener)
    callbacks_.tell(listener->second, run->id, source);
}

void HostRunner::source_ended(GraphId graph, std::uint32_t source) {
  const std::lock_guard lock(mutex_);
  if (const RunPtr run = find(graph)) end_source(run, source, monotonic_now(), false);
}

void HostRunner::message_arrived(GraphId graph, OpIndex op) {
  const std::lock_guard lock(mutex_);
  const RunPtr run = find(graph);
  if (run && run->part_started[op]) return;
  arrived_.insert({graph, op});
  if (run) start_part(run, op);
}

void HostRunner::cancel(GraphId graph) {
  {
    const std::lock_guard lock(mutex_);
    const RunPtr run = find(graph);
    if (!run || run->cancelled) return;
    run->cancelled = true;
    const Seconds now = monotonic_now();
    for (const auto& [source, edge] : run->cross) {
      const RunPtr to = find(edge.graph);
      if (to && !run->source_done[source]) satisfy(to, edge.gate, now);
    }
    std::erase_if(arrived_, [&](const auto& item) { return item.first == graph; });
  }
  for (auto& lane : lanes_) lane->cancel(graph);
  exchange_->cancel(graph);
}

void HostRunner::forget(GraphId graph) {
  const std::lock_guard lock(mutex_);
  runs_.erase(graph);
  std::erase_if(arrived_, [&](const auto& item) { return item.first == graph; });
}

}  // namespace gradwire::emulator
