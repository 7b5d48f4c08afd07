#include "gui/timeline/run_timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "results/runs/place.h"

namespace gradwire::gui {

using results::TimelineSegment;

QString host_text(std::int32_t worker, int workers) {
  return QString::fromStdString(results::host_name(worker, workers));
}

namespace {

void name_labels(RunTimeline& timeline) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  timeline.label_of.reserve(timeline.segments.size());
  for (const TimelineSegment& segment : timeline.segments) {
    const auto next = static_cast<std::uint32_t>(timeline.labels.size());
    const auto [it, fresh] = numbers.try_emplace(segment.label, next);
    if (fresh) timeline.labels.push_back(segment.label);
    timeline.label_of.push_back(it->second);
  }
}

void index_ends(RunTimeline& timeline) {
  const auto& segments = timeline.segments;
  timeline.by_end.resize(timeline.stored);
  std::iota(timeline.by_end.begin(), timeline.by_end.end(), 0U);
  std::stable_sort(timeline.by_end.begin(), timeline.by_end.end(), [&](auto a, auto b) {
    return std::tie(segments[a].worker, segments[a].end_s) <
           std::tie(segments[b].worker, segments[b].end_s);
  });
}

void index_transfers(RunTimeline& timeline) {
  const auto& segments = timeline.segments;
  for (std::uint32_t i = 0; i < timeline.stored; ++i) {
    if (segments[i].lane == results::kTransferLane) timeline.transfers.push_back(i);
  }
  const auto key = [&](std::uint32_t i) {
    return std::tuple(segments[i].step, timeline.label_of[i], segments[i].start_s);
  };
  std::stable_sort(timeline.transfers.begin(), timeline.transfers.end(),
                   [&](auto a, auto b) { return key(a) < key(b); });
}

void find_path(RunTimeline& timeline) {
  using Key = std::tuple<std::int32_t, std::int64_t, std::string, std::int64_t>;
  const auto key = [](const TimelineSegment& segment) {
    return Key{segment.worker, segment.step, segment.label, std::llround(segment.end_s * 1e12)};
  };
  std::map<Key, std::size_t> pieces;
  for (std::size_t i = 0; i < timeline.path.size(); ++i) pieces.emplace(key(timeline.path[i]), i);
  if (pieces.empty()) return;
  constexpr auto kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> found(timeline.path.size(), kNone);
  for (std::uint32_t i = 0; i < timeline.stored; ++i) {
    const auto piece = pieces.find(key(timeline.segments[i]));
    if (piece != pieces.end()) found[piece->second] = i;
  }
  std::erase(found, kNone);
  timeline.path_segments = std::move(found);
}

}  // namespace

TimelinePtr make_timeline(RunTimeline read) {
  auto timeline = std::make_shared<RunTimeline>(std::move(read));
  timeline->stored = timeline->segments.size();
  const auto waits = waits_of(timeline->segments, timeline->workers);
  timeline->segments.insert(timeline->segments.end(), waits.begin(), waits.end());
  std::erase_if(timeline->links, [](const results::LinkSeries& link) {
    return std::ranges::none_of(link.intervals,
                                [](const auto& interval) { return interval.wire_bytes > 0; });
  });
  timeline->rows = build_rows(timeline->segments, timeline->links);
  name_labels(*timeline);
  index_ends(*timeline);
  index_transfers(*timeline);
  find_path(*timeline);
  return timeline;
}

OverlapNumbers overlap_numbers(const TimelineRows& rows,
                               const std::vector<TimelineSegment>& segments, std::int64_t step,
                               int workers) {
  OverlapNumbers numbers;
  const auto span = std::ranges::find(rows.steps, step, &StepSpan::step);
  if (span == rows.steps.end()) return numbers;
  std::vector<TimelineSegment> own;
  for (const TimelineRow& row : rows.rows) {
    for (std::size_t i = row.first_reaching(span->start_s); i < row.segments.size(); ++i) {
      const TimelineSegment& segment = segments[row.segments[i]];
      if (segment.start_s > span->end_s) break;
      if (segment.step == step && segment.lane != kWaitLane) own.push_back(segment);
    }
  }
  numbers.split = results::split_of(own, workers);
  numbers.step_s = span->end_s - span->start_s;
  return numbers;
}

}  // namespace gradwire::gui
