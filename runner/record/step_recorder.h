#pragma once
#include <optional>
#include <vector>

#include "base/hash.h"
#include "results/store/store.h"
#include "scenarios/session.h"
#include "sim/graph/critical_path.h"
#include "sim/graph/rank_starts.h"
#include "sim/session/executor.h"

namespace gradwire::runner {

/// Work that a session has run: how it went on the executor.
struct RanWork {
  const scenarios::Work& work;
  const sim::Timeline& timeline;
  std::span<const sim::MissingData> missing;
};

/// Turns the timelines of a run's steps into stored rows: times, bytes, the split of each step,
/// drawn segments (the first kMaxSegments of a run), and the run's timeline hash.
///
/// A rank's segment of a collective begins when that rank was ready, a transfer's stands at both
/// hosts (its bytes at the source).
class StepRecorder {
 public:
  static constexpr std::size_t kMaxSegments = 20'000;

  /// `gradients`: bytes of the fp32 values that workers' encoders turn into messages in a step, all
  /// workers; 0 = nothing is encoded.
  StepRecorder(int workers, const sim::TransportSettings& transport, Bytes gradients)
      : workers_(workers), transport_(transport), gradients_(gradients) {}

  /// `works`: the report's graphs, which may have been cut off.
  results::StepRow record(const scenarios::StepReport& report, std::span<const RanWork> works);

  /// Those of the recorded steps, and the critical path through them.
  std::vector<results::TimelineSegment> segments() const;
  /// Time from one step's end to the next one's, by step.
  const std::vector<double>& step_times() const { return step_times_; }
  /// By step: from all members' readiness (where they wait for an earlier step alone, the first
  /// one's) to the last one's completion, summed over the step's collectives and transfers.
  const std::vector<double>& exchange_times() const { return exchange_times_; }
  double simulated_s() const { return last_end_; }
  std::int64_t payload_bytes() const { return payload_bytes_; }
  /// Encoded bytes of workers' own messages over those of their values in fp32, and bytes on the
  /// wire over those of the same exchange of fp32 values, in full segments, each sent once. Empty
  /// where nothing was encoded.
  std::optional<double> compression_ratio() const;
  std::optional<double> traffic_ratio() const;
  std::int64_t wire_bytes() const { return wire_bytes_; }
  const Hasher& timeline_hash() const { return hash_; }

 private:
  using Segments = std::vector<results::TimelineSegment>;
  void add_segments(std::int64_t step, const RanWork& ran, Segments& segments);
  void keep(std::int64_t step, std::span<const RanWork> works, Segments segments);
  void count_bytes(const scenarios::StepReport& report, std::span<const RanWork> works,
                   const results::StepRow& row);

  int workers_;
  sim::TransportSettings transport_;
  Bytes gradients_;
  sim::RankStarts rank_starts_;
  std::vector<results::TimelineSegment> segments_;
  sim::CriticalPath path_;
  std::vector<std::int64_t> path_steps_;  ///< by add() call of path_
  std::vector<double> step_times_, exchange_times_;
  double last_end_ = 0;
  std::int64_t payload_bytes_ = 0, wire_bytes_ = 0;
  std::int64_t own_bytes_ = 0, gradient_bytes_ = 0;
  double dense_wire_bytes_ = 0;
  Hasher hash_;
};

}  // namespace gradwire::runner
