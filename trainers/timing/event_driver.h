#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "scenarios/session.h"
#include "sim/executors.h"

namespace gradwire::trainers {

/// Drives a trainer's schedule on an executor as the runner does, without a store: for benches and
/// tests. Keeps what it reports.
class EventDriver final : public scenarios::Session {
 public:
  /// A star of equal links; host `workers` is the server.
  explicit EventDriver(int workers, const sim::LinkSpec& link = {}, const char* executor = "flow")
      : EventDriver(sim::Cluster::star(workers + 1, link), executor) {}
  explicit EventDriver(const sim::Cluster& cluster, const char* executor = "flow")
      : executor_(sim::make_executor(executor, cluster, {})) {}

  sim::GraphId submit(scenarios::Work work) override {
    if (on_submit) on_submit(work);
    const sim::GraphId graph = executor_->submit(scenarios::submission_of(work));
    works_.emplace(graph, std::move(work));
    return graph;
  }
  void cancel(sim::GraphId graph) override { executor_->cancel(graph); }
  void drop(sim::GraphId graph) override {
    works_.erase(graph);
    executor_->forget(graph);
  }
  void wake_at(Seconds time, std::uint64_t token) override { wakes_.emplace(time, token); }
  Seconds now() const override { return executor_->now(); }
  const sim::Timeline& timeline(sim::GraphId graph) const override {
    return executor_->timeline(graph);
  }
  std::span<const sim::MissingData> missing(sim::GraphId graph) const override {
    return executor_->missing(graph);
  }
  void close(scenarios::StepReport report) override {
    for (const sim::GraphId graph : report.graphs) drop(graph);
    rows.push_back(std::move(report));
  }

  void start(scenarios::Trainer& trainer) { trainer.schedule()->start(*this); }
  /// One instant at which something happens; false once nothing is left to happen.
  bool step(scenarios::Trainer& trainer) {
    std::vector<sim::Event> events;
    const Seconds until = wakes_.empty() ? sim::kForever : wakes_.begin()->first;
    const bool more = executor_->advance(until, events);
    for (const sim::Event& event : events) trainer.schedule()->on(event, *this);
    if (more || !events.empty()) return true;
    if (wakes_.empty()) return false;
    while (!wakes_.empty() && wakes_.begin()->first <= now()) {
      const std::uint64_t token = wakes_.begin()->second;
      wakes_.erase(wakes_.begin());
      trainer.schedule()->on_wake(token, *this);
    }
    return true;
  }
  void run(scenarios::Trainer& trainer) {
    start(trainer);
    finish(trainer);
  }
  void finish(scenarios::Trainer& trainer) {
    while (static_cast<std::int64_t>(rows.size()) < trainer.steps_total() && step(trainer)) {
    }
  }
  /// Graphs that nobody has named in a report yet.
  std::size_t open() const { return works_.size(); }

  std::vector<scenarios::StepReport> rows;
  std::function<void(const scenarios::Work&)> on_submit;  ///< told of each; none: nobody is

 private:
  std::unique_ptr<sim::Executor> executor_;
  std::map<sim::GraphId, scenarios::Work> works_;
  std::multimap<Seconds, std::uint64_t> wakes_;
};

}  // namespace gradwire::trainers
