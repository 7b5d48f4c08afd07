#pragma once
#include <vector>

#include "base/hash.h"
#include "results/store.h"
#include "scenarios/trainer.h"
#include "sim/critical_path.h"
#include "sim/executor.h"

namespace gradwire::runner {

/// Turns the timelines of a run's steps into stored rows: times, bytes, the split of each step,
/// drawn segments (the first kMaxSegments of a run), and the run's timeline hash.
class StepRecorder {
 public:
  static constexpr std::size_t kMaxSegments = 20'000;

  explicit StepRecorder(int workers) : workers_(workers) {}

  /// `end`: of the step, which may have been cut off.
  results::StepRow record(const scenarios::StepPlan& plan, const sim::Timeline& timeline,
                          Seconds end);

  /// Those of the recorded steps, and the critical path through them.
  std::vector<results::TimelineSegment> segments() const;
  /// Time from one step's end to the next one's, by step.
  const std::vector<double>& step_times() const { return step_times_; }
  /// By step: from all members' readiness to the last one's completion, summed over the step's
  /// collectives and transfers.
  const std::vector<double>& exchange_times() const { return exchange_times_; }
  double simulated_s() const { return last_end_; }
  std::int64_t payload_bytes() const { return payload_bytes_; }
  std::int64_t dense_bytes() const { return dense_bytes_; }
  std::int64_t wire_bytes() const { return wire_bytes_; }
  const Hasher& timeline_hash() const { return hash_; }

 private:
  void add_segments(const scenarios::StepPlan& plan, const sim::Timeline& timeline);

  int workers_;
  std::vector<results::TimelineSegment> segments_;
  sim::CriticalPath path_;
  std::vector<std::int64_t> path_steps_;  ///< by add() call of path_
  std::vector<double> step_times_, exchange_times_;
  double last_end_ = 0;
  std::int64_t payload_bytes_ = 0, dense_bytes_ = 0, wire_bytes_ = 0;
  Hasher hash_;
};

}  // namespace gradwire::runner
