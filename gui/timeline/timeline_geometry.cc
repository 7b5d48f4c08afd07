#include "gui/timeline/timeline_geometry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "sim/graph/step_graph.h"

namespace gradwire::gui {

using results::TimelineSegment;

const char* name_of(LaneGroup group) {
  static constexpr std::array<const char*, 4> kNames = {"compute", "codec", "host", "network"};
  return kNames[static_cast<std::size_t>(group)];
}

LaneGroup group_of(std::uint8_t lane) {
  switch (lane) {
    case static_cast<std::uint8_t>(sim::Lane::kCompute):
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
  static constexpr std::array<const char*, kPhases> kNames = {
      "forward", "backward", "update", "encode", "decode", "aggregate", "transfer", "other work"};
  return kNames[static_cast<std::size_t>(phase)];
}

Phase phase_of(const TimelineSegment& segment) {
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

namespace {

void finish_row(TimelineRow& row, const std::vector<TimelineSegment>& segments) {
  std::stable_sort(row.segments.begin(), row.segments.end(),
                   [&](auto a, auto b) { return segments[a].start_s < segments[b].start_s; });
  row.latest_end.reserve(row.segments.size());
  double latest = -INFINITY;
  for (std::uint32_t i : row.segments) {
    latest = std::max(latest, segments[i].end_s);
    row.latest_end.push_back(latest);
  }
}

std::vector<StepSpan> step_spans(const std::vector<TimelineSegment>& segments) {
  std::map<std::int64_t, StepSpan> spans;
  for (const TimelineSegment& segment : segments) {
    auto [it, fresh] =
        spans.try_emplace(segment.step, StepSpan{segment.step, segment.start_s, segment.end_s});
    it->second.start_s = std::min(it->second.start_s, segment.start_s);
    it->second.end_s = std::max(it->second.end_s, segment.end_s);
  }
  std::vector<StepSpan> sorted;
  for (const auto& [step, span] : spans) sorted.push_back(span);
  return sorted;
}

/// First position whose segment, or one before it, may end after `time_s`.
std::size_t first_reaching(const TimelineRow& row, double time_s) {
  return static_cast<std::size_t>(
      std::lower_bound(row.latest_end.begin(), row.latest_end.end(), time_s) -
      row.latest_end.begin());
}

}  // namespace

TimelineRows build_rows(const std::vector<TimelineSegment>& segments) {
  TimelineRows timeline;
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

void TimelineWindow::clamp(double first_s, double last_s) {
  const double margin = 0.01 * (last_s - first_s);
  const double from = first_s - margin, to = std::max(last_s + margin, from + kShortest);
  length_s = std::clamp(length_s, std::min(kShortest, to - from), to - from);
  start_s = std::clamp(start_s, from, to - length_s);
}

void TimelineWindow::zoom(double factor, double x, double first_s, double last_s) {
  const double anchor = time_at(x);
  const double margin = 0.01 * (last_s - first_s);
  const double longest = std::max(last_s - first_s + 2 * margin, kShortest);
  length_s = std::clamp(length_s / factor, std::min(kShortest, longest), longest);
  start_s = anchor - x / width * length_s;
  clamp(first_s, last_s);
}

void TimelineWindow::pan(double pixels, double first_s, double last_s) {
  start_s += pixels / width * length_s;
  clamp(first_s, last_s);
}

void TimelineWindow::show(double from_s, double to_s, double first_s, double last_s) {
  const double margin = 0.01 * (to_s - from_s);
  start_s = from_s - margin;
  length_s = std::max(to_s - from_s + 2 * margin, kShortest);
  clamp(first_s, last_s);
}

void visible_blocks(const TimelineRow& row, const std::vector<TimelineSegment>& segments,
                    const TimelineWindow& window, std::vector<TimelineBlock>& blocks) {
  blocks.clear();
  double longest_in_last = 0;
  const double window_end = window.start_s + window.length_s;
  for (std::size_t i = first_reaching(row, window.start_s); i < row.segments.size(); ++i) {
    const std::uint32_t index = row.segments[i];
    const TimelineSegment& segment = segments[index];
    if (segment.start_s > window_end) break;
    if (segment.end_s < window.start_s) continue;
    const double x0 = std::max(window.x_of(segment.start_s), -1.0);
    const double x1 = std::min(window.x_of(segment.end_s), window.width + 1);
    const double duration = segment.end_s - segment.start_s;
    const bool narrow = x1 - x0 < 1;
    TimelineBlock* last = blocks.empty() ? nullptr : &blocks.back();
    if (last && narrow && std::floor(x0) == std::floor(last->x0) && last->x1 - last->x0 <= 1) {
      ++last->count;
      last->x1 = std::max(last->x1, x1);
      if (duration <= longest_in_last) continue;
      last->segment = index;
      last->phase = phase_of(segment);
      longest_in_last = duration;
      continue;
    }
    blocks.push_back({x0, x1, phase_of(segment), index, 1});
    longest_in_last = duration;
  }
}

std::optional<std::uint32_t> segment_at(const TimelineRow& row,
                                        const std::vector<TimelineSegment>& segments, double time_s,
                                        double slack_s) {
  std::optional<std::uint32_t> best;
  double best_distance = INFINITY, best_length = INFINITY;
  for (std::size_t i = first_reaching(row, time_s - slack_s); i < row.segments.size(); ++i) {
    const TimelineSegment& segment = segments[row.segments[i]];
    if (segment.start_s > time_s + slack_s) break;
    if (segment.end_s < time_s - slack_s) continue;
    const double distance = std::max({segment.start_s - time_s, time_s - segment.end_s, 0.0});
    const double length = segment.end_s - segment.start_s;
    if (distance > best_distance || (distance == best_distance && length >= best_length)) continue;
    best = row.segments[i];
    best_distance = distance;
    best_length = length;
  }
  return best;
}

}  // namespace gradwire::gui
