#pragma once
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "runner/record/step_recorder.h"
#include "scenarios/session.h"
#include "sim/session/executor.h"

namespace gradwire::runner {

/// A run's session on an executor: what is submitted runs there, what is reported is handed on.
class RunSession final : public scenarios::Session {
 public:
  /// Told of each row that is closed, while its graphs are still known.
  using OnReport =
      std::function<void(const scenarios::StepReport&, std::span<const RanWork> works)>;

  /// The executor must outlive the session.
  RunSession(sim::Executor& executor, OnReport on_report)
      : executor_(executor), on_report_(std::move(on_report)) {}

  sim::GraphId submit(scenarios::Work work) override;
  void cancel(sim::GraphId graph) override { executor_.cancel(graph); }
  void drop(sim::GraphId graph) override;
  void wake_at(Seconds time, std::uint64_t token) override;
  Seconds now() const override { return executor_.now(); }
  const sim::Timeline& timeline(sim::GraphId graph) const override {
    return executor_.timeline(graph);
  }
  std::span<const sim::MissingData> missing(sim::GraphId graph) const override {
    return executor_.missing(graph);
  }
  void close(scenarios::StepReport report) override;

  std::int64_t rows() const { return rows_; }
  /// When the schedule wants to be woken next; sim::kForever: never.
  Seconds next_wake() const;
  /// Wakes it for all that is due now, with the session that it works with. False where nothing
  /// was.
  bool wake(scenarios::Schedule& schedule, scenarios::Session& session);
  /// What was submitted as a graph that is known. Throws Error (a damaged checkpoint) else.
  const scenarios::Work& work_of(sim::GraphId graph) const;
  /// What holds up the oldest graph that is known, for messages.
  std::string describe_unfinished() const;

 private:
  struct Wake {
    Seconds time;
    std::uint64_t order, token;
    bool operator>(const Wake& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  sim::Executor& executor_;
  OnReport on_report_;
  std::map<sim::GraphId, scenarios::Work> open_;  ///< known to the executor
  std::vector<Wake> wakes_;                       ///< heap, the earliest first
  std::uint64_t wakes_asked_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace gradwire::runner
