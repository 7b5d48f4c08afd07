// The part of GraphSession that runs operations on lanes, in order of readiness.
#include <algorithm>
#include <utility>

#include "sim/session/session_run.h"

namespace gradwire::sim {
namespace {

/// For std heaps, which keep the greatest on top: a starts after b.
constexpr auto kStartsAfter = [](const auto& a, const auto& b) {
  if (a.ready != b.ready) return a.ready > b.ready;
  return a.graph != b.graph ? a.graph > b.graph : a.op > b.op;
};

}  // namespace

std::size_t GraphSession::lane_of(const GraphTemplate& graph, OpIndex op) const {
  return static_cast<std::size_t>(graph.worker[op]) * kLanesPerHost +
         static_cast<std::size_t>(graph.lane[op]) - 1;
}

void GraphSession::list_lane(std::size_t lane) {
  if (!std::exchange(lanes_[lane].listed, true)) dirty_lanes_.push_back(lane);
}

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

}  // namespace gradwire::sim
