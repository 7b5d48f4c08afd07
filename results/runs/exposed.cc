#include "results/runs/exposed.h"

#include <algorithm>
#include <map>

namespace gradwire::results {
namespace {

// Of sim::Lane.
constexpr std::uint8_t kComputeLane = 1, kCodecLane = 2, kHostLane = 3;

using BusyTimes = std::vector<BusyTime>;

struct Lanes {
  BusyTimes compute, codec, network;
};

/// Intervals that overlap or touch become one.
BusyTimes united(BusyTimes list) {
  std::ranges::stable_sort(list, {}, &BusyTime::start_s);
  BusyTimes result;
  for (const BusyTime& each : list) {
    if (!result.empty() && each.start_s <= result.back().end_s)
      result.back().end_s = std::max(result.back().end_s, each.end_s);
    else
      result.push_back(each);
  }
  return result;
}

BusyTimes united(BusyTimes list, const BusyTimes& more) {
  list.insert(list.end(), more.begin(), more.end());
  return united(std::move(list));
}

/// `list` without the times that `covers` covers. Both are united.
BusyTimes without(const BusyTimes& list, const BusyTimes& covers) {
  BusyTimes left;
  auto next = covers.begin();
  for (const BusyTime& busy : list) {
    double at = busy.start_s;
    const auto add = [&](double until) {
      if (until > at) left.push_back({at, until, busy.step});
    };
    while (next != covers.end() && next->end_s <= at) ++next;
    for (auto each = next; each != covers.end() && each->start_s < busy.end_s; ++each) {
      add(each->start_s);
      at = std::max(at, each->end_s);
    }
    add(busy.end_s);
  }
  return left;
}

/// By worker, lanes united; what is nobody's is everybody's, and is left out where there is a
/// worker to have it.
std::map<std::int32_t, Lanes> lanes_of(std::span<const TimelineSegment> segments) {
  std::map<std::int32_t, Lanes> workers;
  for (const TimelineSegment& segment : segments) {
    Lanes& lanes = workers[segment.worker];
    const BusyTime interval{segment.start_s, segment.end_s, segment.step};
    if (segment.lane == kTransferLane) lanes.network.push_back(interval);
    if (segment.lane == kComputeLane || segment.lane == kHostLane)
      lanes.compute.push_back(interval);
    if (segment.lane == kCodecLane) lanes.codec.push_back(interval);
  }
  const auto common = workers.find(-1);
  const BusyTimes everybodys = common == workers.end() ? BusyTimes() : common->second.network;
  if (workers.size() > 1) workers.erase(-1);
  for (auto& [worker, lanes] : workers) {
    lanes.compute = united(std::move(lanes.compute));
    lanes.codec = united(std::move(lanes.codec));
    lanes.network = worker < 0 ? united(std::move(lanes.network))
                               : united(std::move(lanes.network), everybodys);
  }
  return workers;
}

BusyTimes exposed_of(const Lanes& lanes) {
  return without(lanes.network, united(lanes.compute, lanes.codec));
}

}  // namespace

double seconds_of(std::span<const BusyTime> times) {
  double sum = 0;
  for (const BusyTime& each : times) sum += each.end_s - each.start_s;
  return sum;
}

std::vector<TimelineSegment> exposed_communication(std::span<const TimelineSegment> segments) {
  std::vector<TimelineSegment> exposed;
  for (const auto& [worker, lanes] : lanes_of(segments))
    for (const BusyTime& each : exposed_of(lanes))
      exposed.push_back(
          {each.step, worker, kTransferLane, "exposed communication", each.start_s, each.end_s, 0});
  return exposed;
}

std::vector<WorkerTimes> times_of_workers(std::span<const TimelineSegment> segments) {
  std::vector<WorkerTimes> times;
  for (const auto& [worker, lanes] : lanes_of(segments))
    times.push_back({worker, lanes.compute, without(lanes.codec, lanes.compute), lanes.network,
                     exposed_of(lanes)});
  return times;
}

TimeSplit split_of(std::span<const TimelineSegment> segments, int workers) {
  TimeSplit split;
  for (const auto& [worker, lanes] : lanes_of(segments)) {
    if (worker >= workers) continue;
    ++split.workers;
    split.compute_s += seconds_of(lanes.compute);
    split.codec_s += seconds_of(lanes.codec);
    split.exposed_codec_s += seconds_of(without(lanes.codec, lanes.compute));
    split.network_s += seconds_of(lanes.network);
    split.exposed_s += seconds_of(exposed_of(lanes));
  }
  for (double* sum : {&split.compute_s, &split.codec_s, &split.exposed_codec_s, &split.network_s,
                      &split.exposed_s})
    if (split.workers > 0) *sum /= split.workers;
  return split;
}

}  // namespace gradwire::results
