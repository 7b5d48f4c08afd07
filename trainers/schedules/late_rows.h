#pragma once
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "scenarios/session.h"
#include "trainers/schedules/learner.h"
#include "trainers/side_threads.h"

namespace gradwire::trainers {

/// Rows of a schedule on a real clock, which an evaluation would hold up: each is closed, in order,
/// once its evaluation has been made beside the clock.
class LateRows {
 public:
  /// The learner must outlive it.
  explicit LateRows(const Learner& learner);
  LateRows(const LateRows&) = delete;  // its thread refers to it
  LateRows& operator=(const LateRows&) = delete;

  /// `weights`: what is evaluated, with these running statistics; empty: the row is as it is.
  void add(scenarios::StepReport report, std::vector<float> weights,
           std::span<const float> statistics);
  /// Closes those that wait for nothing.
  void close_ready(scenarios::Session& session);
  /// Waits for all. Rethrows what an evaluation threw.
  void close_all(scenarios::Session& session);

 private:
  struct Row {
    scenarios::StepReport report;
    std::vector<float> weights, statistics;
  };
  void evaluate(Row& row);
  void close_first(scenarios::Session& session);

  const Learner& learner_;
  std::vector<float> weights_, statistics_;  ///< that its replica looks at
  std::unique_ptr<Replica> replica_;
  std::deque<Row> rows_;  ///< places of the others stay when one comes or goes
  SideThreads thread_;    ///< last: it ends first
};

}  // namespace gradwire::trainers
