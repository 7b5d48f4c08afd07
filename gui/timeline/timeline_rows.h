#pragma once
#include <cstdint>
#include <vector>

#include "results/store/store.h"

/// The timeline's rows: what is drawn in which of them, and in which colour.
namespace gradwire::gui {

/// Of segments that are derived here, not stored: times in which a worker neither computed nor
/// encoded nor decoded.
inline constexpr std::uint8_t kWaitLane = 253;

enum class LaneGroup : std::uint8_t { kCompute, kCodec, kHost, kNetwork, kLink };
const char* name_of(LaneGroup group);
/// sim::Lane, or 255 and none: the network. Waits stand in the row of what they wait to do.
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
  kWait,
  kOther,
};
inline constexpr int kPhases = static_cast<int>(Phase::kOther) + 1;
const char* name_of(Phase phase);
Phase phase_of(const results::TimelineSegment& segment);

/// One worker's lane with its segments in order of start, or one direction of a link.
struct TimelineRow {
  /// Neighbours taken together, so that what is narrower than a pixel is not looked at one by one.
  static constexpr std::size_t kChunk = 64;
  struct Chunk {
    std::uint32_t longest = 0;  ///< position of its longest segment
    double longest_s = 0;
    double latest_end = 0;
  };

  std::int32_t worker = 0;  ///< -1: segments that belong to no single worker
  LaneGroup group = LaneGroup::kCompute;
  std::int32_t link = -1;               ///< of a link: its number among the timeline's links
  std::vector<std::uint32_t> segments;  ///< indices, by start
  /// By position, as `segments`: what painting reads, close together.
  std::vector<double> start, end;
  std::vector<Phase> phase;
  /// Latest end among segments[0..i]: transfers of one lane may overlap, so ends are not sorted.
  std::vector<double> latest_end;
  std::vector<Chunk> chunks;

  /// First position whose segment, or one before it, may end at `time_s` or later.
  std::size_t first_reaching(double time_s) const;
};

struct StepSpan {
  std::int64_t step = 0;
  double start_s = 0, end_s = 0;
};

struct TimelineRows {
  std::vector<TimelineRow> rows;  ///< by worker, then compute, codec, host, network; then links
  std::vector<StepSpan> steps;    ///< by step
  std::vector<bool> phases;       ///< [kPhases]: which occur
  double start_s = 0, end_s = 0;
};

/// Links get a row each, in their order.
TimelineRows build_rows(const std::vector<results::TimelineSegment>& segments,
                        const std::vector<results::LinkSeries>& links = {});

}  // namespace gradwire::gui
