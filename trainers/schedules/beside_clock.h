#pragma once
#include <vector>

#include "scenarios/session.h"
#include "trainers/schedules/late_rows.h"
#include "trainers/side_threads.h"

namespace gradwire::trainers {

/// What a schedule whose workers wait for nobody does beside a real clock, which learning would
/// hold up: passes, which begin when the network begins their time, and evaluations. Its threads
/// use what its owner's passes do: the owner has it as its last member.
class BesideClock {
 public:
  /// The learner must outlive it.
  explicit BesideClock(Learner& learner);

  /// Precondition: none of that worker's is under way.
  void begin_pass(int worker, Seconds due, SideThreads::Task pass);
  /// Rethrows what the pass threw.
  void wait_for_pass(int worker);
  /// No more are begun: nobody will send what is under way.
  void stop_passes() { passes_.stop(); }

  /// A row that is over. `weights`: what is to be evaluated; empty: nothing. Rows are closed in
  /// order, each once its evaluation has been made.
  void close(scenarios::StepReport report, std::vector<float> weights, scenarios::Session& session);
  void close_ready(scenarios::Session& session) { rows_.close_ready(session); }
  void close_all(scenarios::Session& session) { rows_.close_all(session); }
  /// Of a run that ends before its time.
  void stop(scenarios::Session& session);

 private:
  const Learner& learner_;
  std::vector<float> statistics_;  ///< that the last pass of worker 0 left
  LateRows rows_;
  SideThreads passes_;
};

}  // namespace gradwire::trainers
