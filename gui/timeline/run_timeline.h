#pragma once
#include <QString>
#include <memory>
#include <string>
#include <vector>

#include "gui/timeline/timeline_rows.h"
#include "results/runs/exposed.h"

/// One run's timeline as the window shows it: made on the database's thread, never changed.
namespace gradwire::gui {

struct RunTimeline {
  results::RunId run = 0;
  int workers = 0;
  QString title;  ///< "run 42, topk 1%, 8 workers, lossy-terngrad"
  QString provenance;
  /// As stored, then the waits between them (lane kWaitLane).
  std::vector<results::TimelineSegment> segments;
  std::size_t stored = 0;                      ///< how many of them are stored
  std::vector<results::TimelineSegment> path;  ///< the run's own critical path; may be empty
  /// Those that carried something, the busiest first.
  std::vector<results::LinkSeries> links;
  TimelineRows rows;

  std::vector<std::string> labels;      ///< each once
  std::vector<std::uint32_t> label_of;  ///< [segments] number of its label
  /// Stored segments by worker, then end.
  std::vector<std::uint32_t> by_end;
  /// Transfers and ranks of collectives by step, label, then start.
  std::vector<std::uint32_t> transfers;
  /// `path` as segments, first to last; pieces that have none are left out.
  std::vector<std::uint32_t> path_segments;
};
using TimelinePtr = std::shared_ptr<const RunTimeline>;

/// Derives waits, rows and indices of what was read: run, workers, title, provenance, segments,
/// path and links.
TimelinePtr make_timeline(RunTimeline read);

/// Times at which a worker that computes or encodes did neither: "waits for the network" where a
/// transfer of its was under way (exposed communication, results/runs/exposed.h), else "idle". In
/// the step of what comes after; waits before a worker's first work and after its last are left
/// out, but for its exposed communication.
std::vector<results::TimelineSegment> waits_of(
    const std::vector<results::TimelineSegment>& segments, int workers);

/// Times are kept to 1 ps: two that are this close are the same.
inline constexpr double kTimelineTick = 2e-12;

/// A segment of one of the runs that are shown.
struct SegmentRef {
  std::uint32_t segment = 0;
  int track = 0;  ///< 0: the run itself, 1: the one it is compared with
  bool operator==(const SegmentRef&) const = default;
};

/// "worker 3", "server 1", "all workers".
QString host_text(std::int32_t worker, int workers);

/// How much of the communication hides behind work, over one step.
struct OverlapNumbers {
  double step_s = 0;         ///< first start to last end
  results::TimeSplit split;  ///< means over the run's workers
};
OverlapNumbers overlap_numbers(const TimelineRows& rows,
                               const std::vector<results::TimelineSegment>& segments,
                               std::int64_t step, int workers);

}  // namespace gradwire::gui
