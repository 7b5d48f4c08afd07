#include <algorithm>
#include <map>

#include "gui/timeline_geometry.h"

namespace gradwire::gui {
namespace {

using results::TimelineSegment;
using Interval = std::pair<double, double>;

struct WorkerIntervals {
  std::vector<Interval> compute, codec, network;
};

std::vector<Interval> united(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> result;
  for (const Interval& interval : intervals) {
    if (!result.empty() && interval.first <= result.back().second) {
      result.back().second = std::max(result.back().second, interval.second);
    } else {
      result.push_back(interval);
    }
  }
  return result;
}

double length(const std::vector<Interval>& intervals) {
  double sum = 0;
  for (const Interval& interval : intervals) sum += interval.second - interval.first;
  return sum;
}

/// Length of the intersection of two unions.
double shared(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double from = std::max(a[i].first, b[j].first);
    const double to = std::min(a[i].second, b[j].second);
    sum += std::max(0.0, to - from);
    a[i].second < b[j].second ? ++i : ++j;
  }
  return sum;
}

std::vector<Interval> joined(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> both = a;
  both.insert(both.end(), b.begin(), b.end());
  return united(std::move(both));
}

/// Segments of the row that belong to `step` (steps follow each other, so a scan of the row).
void collect(const TimelineRow& row, const std::vector<TimelineSegment>& segments,
             const StepSpan& span, std::vector<Interval>& into) {
  const auto first = std::lower_bound(row.latest_end.begin(), row.latest_end.end(), span.start_s);
  for (auto i = static_cast<std::size_t>(first - row.latest_end.begin());
       i < row.segments.size() && segments[row.segments[i]].start_s <= span.end_s; ++i) {
    const TimelineSegment& segment = segments[row.segments[i]];
    if (segment.step == span.step) into.emplace_back(segment.start_s, segment.end_s);
  }
}

}  // namespace

OverlapNumbers overlap_numbers(const TimelineRows& rows,
                               const std::vector<TimelineSegment>& segments, std::int64_t step) {
  OverlapNumbers numbers;
  const auto span = std::find_if(rows.steps.begin(), rows.steps.end(),
                                 [&](const StepSpan& candidate) { return candidate.step == step; });
  if (span == rows.steps.end()) return numbers;
  std::map<std::int32_t, WorkerIntervals> workers;
  for (const TimelineRow& row : rows.rows) {
    WorkerIntervals& worker = workers[row.worker];
    collect(row, segments, *span,
            row.group == LaneGroup::kNetwork ? worker.network
            : row.group == LaneGroup::kCodec ? worker.codec
                                             : worker.compute);
  }
  // Transfers of no single worker (a collective drawn as one) keep every worker waiting.
  const std::vector<Interval> common =
      workers.contains(-1) ? workers[-1].network : std::vector<Interval>();
  if (workers.size() > 1) workers.erase(-1);
  numbers.step_s = span->end_s - span->start_s;
  for (const auto& [id, worker] : workers) {
    const auto compute = united(worker.compute), codec = united(worker.codec);
    const auto network = id < 0 ? united(worker.network) : joined(worker.network, common);
    const double hidden = shared(network, joined(compute, codec));
    numbers.compute_s += length(compute);
    numbers.codec_s += length(codec);
    numbers.network_s += length(network);
    numbers.hidden_s += hidden;
    ++numbers.workers;
  }
  for (double* sum :
       {&numbers.compute_s, &numbers.codec_s, &numbers.network_s, &numbers.hidden_s}) {
    *sum /= numbers.workers;
  }
  numbers.exposed_s = numbers.network_s - numbers.hidden_s;
  return numbers;
}

}  // namespace gradwire::gui
