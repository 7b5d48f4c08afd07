#pragma once
#include <vector>

#include "results/store/store.h"
#include "sim/cluster/cluster.h"
#include "sim/session/executor.h"

namespace gradwire::runner {

/// Samples what a run's links carry, at instants at which the executor stops: for events, and where
/// its caller lets it for next(). Begins with every millisecond and takes every second instant
/// whenever there are kMostIntervals, so that a run of any length has between half as many and as
/// many.
class LinkSampler {
 public:
  static constexpr std::size_t kMostIntervals = 240;
  /// Fewer for many channels, so that what is held while a run lasts stays below 8 MB.
  static constexpr std::size_t kMostRecords = 1'000'000;
  /// Channels that are kept: those that carried most.
  static constexpr std::size_t kMostChannels = 64;

  explicit LinkSampler(const sim::Cluster& cluster);

  /// When the next sample is due.
  Seconds next(const sim::Executor& executor) const;
  /// Call after the executor has moved.
  void observe(const sim::Executor& executor);
  /// The last sample, of an executor that has not failed.
  void finish(const sim::Executor& executor);
  /// What was sampled, the busiest channel first.
  std::vector<results::LinkSeries> series() const;

 private:
  struct Sample {
    double time = 0;
    std::vector<std::int64_t> wire;  ///< by channel, so far
  };
  void take(const sim::Executor& executor);
  void thin_out();
  static void queue_what_is_too_much(results::LinkSeries& series);

  std::vector<std::string> names_;
  std::vector<double> rates_;
  std::vector<bool> steady_;  ///< one rate throughout
  std::vector<Sample> samples_;
  std::size_t most_ = kMostIntervals;
  double interval_ = 1e-3;
};

}  // namespace gradwire::runner
