#include "runner/run_session.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/serial.h"

namespace gradwire::runner {

sim::GraphId RunSession::submit(scenarios::Work work) {
  const sim::GraphId graph = executor_.submit(scenarios::submission_of(work));
  open_.emplace(graph, std::move(work));
  return graph;
}

void RunSession::drop(sim::GraphId graph) {
  GRADWIRE_ASSERT(open_.erase(graph) == 1);
  executor_.forget(graph);
}

void RunSession::wake_at(Seconds time, std::uint64_t token) {
  wakes_.push_back({std::max(time, now()), wakes_asked_++, token});
  std::ranges::push_heap(wakes_, std::greater<>());
}

Seconds RunSession::next_wake() const {
  return wakes_.empty() ? sim::kForever : wakes_.front().time;
}

bool RunSession::wake(scenarios::Schedule& schedule, scenarios::Session& session) {
  bool woken = false;
  while (next_wake() <= now()) {
    std::ranges::pop_heap(wakes_, std::greater<>());
    const std::uint64_t token = wakes_.back().token;
    wakes_.pop_back();
    schedule.on_wake(token, session);
    woken = true;
  }
  return woken;
}

void RunSession::close(scenarios::StepReport report) {
  GRADWIRE_ASSERT(report.step == rows_);
  std::vector<RanWork> works;
  for (const sim::GraphId graph : report.graphs)
    works.push_back({open_.at(graph), executor_.timeline(graph), executor_.missing(graph)});
  ++rows_;
  on_report_(report, works);
  for (const sim::GraphId graph : report.graphs) drop(graph);
}

const scenarios::Work& RunSession::work_of(sim::GraphId graph) const {
  const auto found = open_.find(graph);
  if (found == open_.end()) refuse_checkpoint("it names a graph that is not under way");
  return found->second;
}

std::string RunSession::describe_unfinished() const {
  if (open_.empty()) return "nothing was submitted";
  return executor_.describe_unfinished(open_.begin()->first);
}

}  // namespace gradwire::runner
