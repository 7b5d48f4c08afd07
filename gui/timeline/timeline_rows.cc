#include "gui/timeline/timeline_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "sim/graph/step_graph.h"

namespace gradwire::gui {

using results::TimelineSegment;

const char* name_of(LaneGroup group) {
  static constexpr std::array<const char*, 5> kNames = {"compute", "codec", "host", "network",
                                                        "link"};
  return kNames[static_cast<std::size_t>(group)];
}

LaneGroup group_of(std::uint8_t lane) {
  switch (lane) {
    case static_cast<std::uint8_t>(sim::Lane::kCompute):
    case kWaitLane:
      return LaneGroup::kCompute;
    case static_cast<std::uint8_t>(sim::Lane::kCodec):
      return LaneGroup::kCodec;
    case static_cast<std::uint8_t>(sim::Lane::kHost):
      return LaneGroup::kHost;
    default:
      return LaneGroup::kNetwork;
  }
}

const char* name_of(Phase phase) {
  static constexpr std::array<const char*, kPhases> kNames = {"forward",  "backward", "update",
                                                              "encode",   "decode",   "aggregate",
                                                              "transfer", "wait",     "other work"};
  return kNames[static_cast<std::size_t>(phase)];
}

Phase phase_of(const TimelineSegment& segment) {
  if (segment.lane == kWaitLane) return Phase::kWait;
  if (group_of(segment.lane) == LaneGroup::kNetwork) return Phase::kTransfer;
  static constexpr std::array<std::pair<std::string_view, Phase>, 6> kPrefixes = {{
      {"forward", Phase::kForward},
      {"backward", Phase::kBackward},
      {"update", Phase::kUpdate},
      {"encode", Phase::kEncode},
      {"decode", Phase::kDecode},
      {"aggregate", Phase::kAggregate},
  }};
  for (const auto& [prefix, phase] : kPrefixes) {
    if (segment.label.starts_with(prefix)) return phase;
  }
  return Phase::kOther;
}

std::size_t TimelineRow::first_reaching(double time_s) const {
  return static_cast<std::size_t>(std::lower_bound(latest_end.begin(), latest_end.end(), time_s) -
                                  latest_end.begin());
}

namespace {

void add_chunks(TimelineRow& row) {
  for (std::size_t i = 0; i < row.segments.size(); ++i) {
    if (i % TimelineRow::kChunk == 0) row.chunks.push_back({std::uint32_t(i), -1, -INFINITY});
    TimelineRow::Chunk& chunk = row.chunks.back();
    chunk.latest_end = std::max(chunk.latest_end, row.end[i]);
    if (row.end[i] - row.start[i] <= chunk.longest_s) continue;
    chunk.longest = static_cast<std::uint32_t>(i);
    chunk.longest_s = row.end[i] - row.start[i];
  }
}

void finish_row(TimelineRow& row, const std::vector<TimelineSegment>& segments) {
  std::stable_sort(row.segments.begin(), row.segments.end(),
                   [&](auto a, auto b) { return segments[a].start_s < segments[b].start_s; });
  double latest = -INFINITY;
  for (std::uint32_t i : row.segments) {
    latest = std::max(latest, segments[i].end_s);
    row.latest_end.push_back(latest);
    row.start.push_back(segments[i].start_s);
    row.end.push_back(segments[i].end_s);
    row.phase.push_back(phase_of(segments[i]));
  }
  add_chunks(row);
}

std::vector<StepSpan> step_spans(const std::vector<TimelineSegment>& segments) {
  std::map<std::int64_t, StepSpan> spans;
  for (const TimelineSegment& segment : segments) {
    if (segment.lane == kWaitLane) continue;
    auto [it, fresh] =
        spans.try_emplace(segment.step, StepSpan{segment.step, segment.start_s, segment.end_s});
    it->second.start_s = std::min(it->second.start_s, segment.start_s);
    it->second.end_s = std::max(it->second.end_s, segment.end_s);
  }
  std::vector<StepSpan> sorted;
  for (const auto& [step, span] : spans) sorted.push_back(span);
  return sorted;
}

}  // namespace

TimelineRows build_rows(const std::vector<TimelineSegment>& segments,
                        const std::vector<results::LinkSeries>& links) {
  TimelineRows timeline;
  timeline.phases.assign(kPhases, false);
  std::map<std::pair<std::int32_t, LaneGroup>, TimelineRow> rows;
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    const LaneGroup group = group_of(segments[i].lane);
    TimelineRow& row = rows[{segments[i].worker, group}];
    row.worker = segments[i].worker;
    row.group = group;
    row.segments.push_back(i);
  }
  for (auto& [key, row] : rows) {
    finish_row(row, segments);
    for (const Phase phase : row.phase) timeline.phases[static_cast<std::size_t>(phase)] = true;
    timeline.rows.push_back(std::move(row));
  }
  for (std::size_t link = 0; link < links.size(); ++link) {
    TimelineRow row;
    row.worker = -1;
    row.group = LaneGroup::kLink;
    row.link = static_cast<std::int32_t>(link);
    timeline.rows.push_back(std::move(row));
  }
  timeline.steps = step_spans(segments);
  if (segments.empty()) return timeline;
  timeline.start_s = INFINITY;
  timeline.end_s = -INFINITY;
  for (const TimelineSegment& segment : segments) {
    timeline.start_s = std::min(timeline.start_s, segment.start_s);
    timeline.end_s = std::max(timeline.end_s, segment.end_s);
  }
  return timeline;
}

}  // namespace gradwire::gui
