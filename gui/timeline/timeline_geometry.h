#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/exposed.h"
#include "results/store.h"

/// The timeline's arithmetic, without a widget: rows, the window of time that is shown, which
/// pixels a segment covers, and what lies under a point.
namespace gradwire::gui {

enum class LaneGroup : std::uint8_t { kCompute, kCodec, kHost, kNetwork };
const char* name_of(LaneGroup group);
/// sim::Lane, or 255 and none: the network.
LaneGroup group_of(std::uint8_t lane);

/// What is drawn in one colour.
enum class Phase : std::uint8_t {
  kForward,
  kBackward,
  kUpdate,
  kEncode,
  kDecode,
  kAggregate,
  kTransfer,
  kOther,
};
inline constexpr int kPhases = static_cast<int>(Phase::kOther) + 1;
const char* name_of(Phase phase);
Phase phase_of(const results::TimelineSegment& segment);

/// One worker's lane: its segments in order of start.
struct TimelineRow {
  std::int32_t worker = 0;  ///< -1: segments that belong to no single worker
  LaneGroup group = LaneGroup::kCompute;
  std::vector<std::uint32_t> segments;  ///< indices, by start
  /// Latest end among segments[0..i]: transfers of one lane may overlap, so ends are not sorted.
  std::vector<double> latest_end;
};

struct StepSpan {
  std::int64_t step = 0;
  double start_s = 0, end_s = 0;
};

struct TimelineRows {
  std::vector<TimelineRow> rows;  ///< by worker, then compute, codec, host, network
  std::vector<StepSpan> steps;    ///< by step
  double start_s = 0, end_s = 0;
};

TimelineRows build_rows(const std::vector<results::TimelineSegment>& segments);

/// The window of time on screen. Pixels are device-independent and start at the plot's left edge.
struct TimelineWindow {
  double start_s = 0;   ///< time at pixel 0
  double length_s = 1;  ///< time shown over `width` pixels
  double width = 1;

  double x_of(double time_s) const { return (time_s - start_s) / length_s * width; }
  double time_at(double x) const { return start_s + x / width * length_s; }
  /// factor > 1 shows less time; the time under pixel `x` stays there. Never shows less than
  /// kShortest nor more than [first_s, last_s] with a small margin.
  void zoom(double factor, double x, double first_s, double last_s);
  void pan(double pixels, double first_s, double last_s);
  void show(double from_s, double to_s, double first_s, double last_s);

  static constexpr double kShortest = 1e-9;

 private:
  void clamp(double first_s, double last_s);
};

/// What is painted: one segment, or several neighbours that share a pixel.
struct TimelineBlock {
  double x0 = 0, x1 = 0;
  Phase phase = Phase::kOther;  ///< of the longest segment in it
  std::uint32_t segment = 0;    ///< the longest segment in it
  std::uint32_t count = 1;
};

/// Blocks of one row inside the window, left to right. Segments narrower than a pixel are merged
/// with neighbours in the same pixel: at most 2 blocks per pixel plus what is wider than one.
void visible_blocks(const TimelineRow& row, const std::vector<results::TimelineSegment>& segments,
                    const TimelineWindow& window, std::vector<TimelineBlock>& blocks);

/// The segment of `row` at time_s, or the nearest within `slack_s`; of several, the shortest.
std::optional<std::uint32_t> segment_at(const TimelineRow& row,
                                        const std::vector<results::TimelineSegment>& segments,
                                        double time_s, double slack_s);

/// How much of the communication hides behind work, over one step.
struct OverlapNumbers {
  double step_s = 0;         ///< first start to last end
  results::TimeSplit split;  ///< means over the run's workers
};
OverlapNumbers overlap_numbers(const TimelineRows& rows,
                               const std::vector<results::TimelineSegment>& segments,
                               std::int64_t step, int workers);

}  // namespace gradwire::gui
