#include "results/exposed.h"

#include <algorithm>
#include <map>

namespace gradwire::results {
namespace {

struct Lanes {
  std::vector<TimelineSegment> transfers, work;
};

bool by_start(const TimelineSegment& a, const TimelineSegment& b) {
  return a.start_s < b.start_s;
}

/// Segments that overlap or touch become one.
std::vector<TimelineSegment> joined(std::vector<TimelineSegment> list) {
  std::stable_sort(list.begin(), list.end(), by_start);
  std::vector<TimelineSegment> result;
  for (TimelineSegment& each : list) {
    if (!result.empty() && each.start_s <= result.back().end_s)
      result.back().end_s = std::max(result.back().end_s, each.end_s);
    else
      result.push_back(std::move(each));
  }
  return result;
}

}  // namespace

std::vector<TimelineSegment> exposed_communication(std::span<const TimelineSegment> segments) {
  std::map<std::int32_t, Lanes> workers;
  for (const TimelineSegment& segment : segments) {
    if (segment.worker < 0) continue;
    Lanes& lanes = workers[segment.worker];
    if (segment.lane == kTransferLane) lanes.transfers.push_back(segment);
    if (segment.lane == 1 || segment.lane == 2) lanes.work.push_back(segment);
  }
  std::vector<TimelineSegment> exposed;
  for (auto& [worker, lanes] : workers) {
    const std::vector<TimelineSegment> work = joined(std::move(lanes.work));
    auto next = work.begin();
    for (const TimelineSegment& busy : joined(std::move(lanes.transfers))) {
      double at = busy.start_s;
      const auto add = [&](double until) {
        if (until > at)
          exposed.push_back(
              {busy.step, worker, kTransferLane, "exposed communication", at, until, 0});
      };
      while (next != work.end() && next->end_s <= at) ++next;
      for (auto each = next; each != work.end() && each->start_s < busy.end_s; ++each) {
        add(each->start_s);
        at = std::max(at, each->end_s);
      }
      add(busy.end_s);
    }
  }
  return exposed;
}

}  // namespace gradwire::results
