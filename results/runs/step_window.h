#pragma once
#include <optional>
#include <span>
#include <vector>

#include "results/runs/exposed.h"

/// A step cut out of a run's timeline: what each host did between the step's first start and its
/// last end, parts of neighbouring steps included, as steps may overlap.
namespace gradwire::results {

struct StepWindow {
  std::int64_t step = 0;
  double start_s = 0, end_s = 0;
  std::vector<WorkerTimes> hosts;     ///< cut to the window; by host
  std::vector<TimelineSegment> path;  ///< pieces of the run's critical path, cut likewise
  double length_s() const { return end_s - start_s; }
};

/// The step in the middle of those that are stored; none where nothing is.
std::optional<StepWindow> middle_step(std::span<const TimelineSegment> segments,
                                      std::span<const TimelineSegment> path);

/// Times with pauses below `pause_s` between them become one.
std::vector<BusyTime> joined(std::span<const BusyTime> times, double pause_s);

/// Of the window's hosts below `workers`, over `bins` equal parts of the window: the mean share of
/// a part in which `kind` was under way. [bins], 0..1.
std::vector<double> mean_shares(const StepWindow& window, int workers,
                                std::vector<BusyTime> WorkerTimes::*kind, std::size_t bins);

}  // namespace gradwire::results
