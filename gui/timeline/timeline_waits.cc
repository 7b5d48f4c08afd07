#include <algorithm>
#include <map>

#include "gui/timeline/run_timeline.h"

namespace gradwire::gui {

using results::TimelineSegment;

namespace {

using Segments = std::vector<TimelineSegment>;

bool is_work(const TimelineSegment& segment) {
  return segment.lane != results::kTransferLane && segment.lane != results::kCriticalLane &&
         segment.lane != kWaitLane;
}

/// By worker: its work in order of start.
std::map<std::int32_t, std::vector<const TimelineSegment*>> work_of(const Segments& segments,
                                                                    int workers) {
  std::map<std::int32_t, std::vector<const TimelineSegment*>> work;
  for (const TimelineSegment& segment : segments) {
    if (segment.worker < 0 || segment.worker >= workers || !is_work(segment)) continue;
    work[segment.worker].push_back(&segment);
  }
  for (auto& [worker, list] : work) {
    std::ranges::stable_sort(list, {}, &TimelineSegment::start_s);
  }
  return work;
}

class Waits {
 public:
  void add(std::int32_t worker, std::int64_t step, const char* label, double from_s, double to_s) {
    if (to_s - from_s <= kTimelineTick) return;
    waits_.push_back({step, worker, kWaitLane, label, from_s, to_s, 0});
  }
  Segments take() { return std::move(waits_); }

 private:
  Segments waits_;
};

}  // namespace

Segments waits_of(const Segments& segments, int workers) {
  const auto work = work_of(segments, workers);
  std::map<std::int32_t, Segments> exposed;
  for (TimelineSegment& each : results::exposed_communication(segments)) {
    if (work.contains(each.worker)) exposed[each.worker].push_back(std::move(each));
  }
  Waits waits;
  for (const auto& [worker, list] : work) {
    const Segments& network = exposed[worker];
    for (const TimelineSegment& each : network) {
      waits.add(worker, each.step, "waits for the network", each.start_s, each.end_s);
    }
    auto next = network.begin();
    double done_s = list.front()->end_s;
    for (const TimelineSegment* segment : list) {
      // The gap before it, without the exposed communication in it.
      for (; next != network.end() && next->end_s <= segment->start_s + kTimelineTick; ++next) {
        if (next->end_s <= done_s) continue;
        waits.add(worker, segment->step, "idle", done_s, next->start_s);
        done_s = next->end_s;
      }
      waits.add(worker, segment->step, "idle", done_s, segment->start_s);
      done_s = std::max(done_s, segment->end_s);
    }
  }
  return waits.take();
}

}  // namespace gradwire::gui
