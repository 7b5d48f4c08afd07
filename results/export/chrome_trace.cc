#include "results/export/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <tuple>

#include "results/export/export.h"
#include "results/runs/exposed.h"
#include "results/runs/place.h"

namespace gradwire::results {
namespace {

using Json = nlohmann::ordered_json;

// Numbers of what is no worker and no lane; the viewer shows names.
constexpr int kCriticalProcess = 1'000'000;
constexpr int kLinkProcess = 1'000'001;
/// A lane's threads: rows of slices that do not overlap, which a trace's thread must not hold.
constexpr int kRows = 1000;
constexpr int kExposedThread = 256 * kRows;

/// The viewer's resolution. Slices that follow each other must not overlap by a rounding, or it
/// drops them.
std::int64_t nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

/// Traces are in microseconds, of three decimals.
double microseconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e3;
}

class Trace {
 public:
  void slice(int process, int thread, const std::string& name, std::string_view category,
             double start_s, double end_s, Json arguments) {
    events_.push_back({{"name", name},
                       {"ph", "X"},
                       {"cat", category},
                       {"ts", microseconds(nanoseconds(start_s))},
                       {"dur", microseconds(nanoseconds(end_s) - nanoseconds(start_s))},
                       {"pid", process},
                       {"tid", thread},
                       {"args", std::move(arguments)}});
  }
  void counter(int process, const std::string& name, double time_s, const char* series,
               double value) {
    events_.push_back({{"name", name},
                       {"ph", "C"},
                       {"ts", microseconds(nanoseconds(time_s))},
                       {"pid", process},
                       {"args", {{series, value}}}});
  }
  void name_process(int process, const std::string& name) {
    if (!processes_.insert(process).second) return;
    metadata("process_name", process, 0, {{"name", name}});
    metadata("process_sort_index", process, 0, {{"sort_index", process}});
  }
  void name_thread(int process, int thread, std::string_view name) {
    if (!threads_.insert({process, thread}).second) return;
    metadata("thread_name", process, thread, {{"name", name}});
    metadata("thread_sort_index", process, thread, {{"sort_index", thread}});
  }
  Json take() { return std::move(events_); }

 private:
  void metadata(const char* name, int process, int thread, Json arguments) {
    events_.push_back({{"name", name},
                       {"ph", "M"},
                       {"pid", process},
                       {"tid", thread},
                       {"args", std::move(arguments)}});
  }
  Json events_ = Json::array();
  std::set<int> processes_;
  std::set<std::pair<int, int>> threads_;
};

/// Segments are found again by what both have; times are kept to 1 ps in both.
using Key = std::tuple<std::int64_t, std::int32_t, std::string, std::int64_t>;
Key key_of(const TimelineSegment& segment) {
  return {segment.step, segment.worker, segment.label, std::llround(segment.end_s * 1e12)};
}

/// By segment: the first row of its worker's lane that is free when it starts.
std::vector<int> rows_of(const std::vector<TimelineSegment>& segments) {
  std::vector<std::size_t> order(segments.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return segments[a].start_s < segments[b].start_s;
  });
  std::map<std::pair<std::int32_t, std::uint8_t>, std::vector<std::int64_t>> free_from;
  std::vector<int> rows(segments.size());
  for (const std::size_t i : order) {
    std::vector<std::int64_t>& ends = free_from[{segments[i].worker, segments[i].lane}];
    std::size_t row = 0;
    while (row < ends.size() && ends[row] > nanoseconds(segments[i].start_s)) ++row;
    if (row == ends.size()) ends.emplace_back();
    ends[row] = nanoseconds(segments[i].end_s);
    rows[i] = static_cast<int>(row);
  }
  return rows;
}

void add_segments(const std::vector<TimelineSegment>& segments, const std::set<Key>& critical,
                  std::int32_t workers, Trace& trace) {
  const std::vector<int> rows = rows_of(segments);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const TimelineSegment& segment = segments[i];
    const int thread = segment.lane * kRows + rows[i];
    trace.name_process(segment.worker, host_name(segment.worker, workers));
    trace.name_thread(segment.worker, thread, lane_name(segment.lane));
    Json arguments = {{"step", segment.step}, {"bytes", segment.bytes}};
    if (critical.contains(key_of(segment))) arguments["critical"] = true;
    trace.slice(segment.worker, thread, segment.label, lane_name(segment.lane), segment.start_s,
                segment.end_s, std::move(arguments));
  }
  for (const TimelineSegment& segment : exposed_communication(segments)) {
    trace.name_thread(segment.worker, kExposedThread, "exposed communication");
    trace.slice(segment.worker, kExposedThread, segment.label, "exposed", segment.start_s,
                segment.end_s, {{"step", segment.step}});
  }
}

void add_path(const std::vector<TimelineSegment>& path, std::int32_t workers, Trace& trace) {
  if (path.empty()) return;
  trace.name_process(kCriticalProcess, "critical path");
  trace.name_thread(kCriticalProcess, 0, "critical path");
  for (const TimelineSegment& piece : path)
    trace.slice(kCriticalProcess, 0, host_name(piece.worker, workers) + ": " + piece.label,
                "critical", piece.start_s, piece.end_s, {{"step", piece.step}});
}

/// A slice for each run of intervals that carried something.
void add_busy_times(const LinkSeries& link, Trace& trace) {
  double start = 0, end = -1;
  std::int64_t bytes = 0;
  const auto close = [&] {
    if (bytes > 0)
      trace.slice(kLinkProcess, link.channel, link.name, "link", start, end,
                  {{"wire_bytes", bytes},
                   {"utilisation",
                    link.utilisation({.start_s = start, .end_s = end, .wire_bytes = bytes})}});
    bytes = 0;
  };
  for (const LinkSeries::Interval& each : link.intervals) {
    if (each.wire_bytes == 0) {
      close();
      continue;
    }
    if (bytes == 0) start = each.start_s;
    end = each.end_s;
    bytes += each.wire_bytes;
  }
  close();
}

void add_links(const std::vector<LinkSeries>& links, Trace& trace) {
  for (const LinkSeries& link : links) {
    trace.name_process(kLinkProcess, "links");
    trace.name_thread(kLinkProcess, link.channel, link.name);
    add_busy_times(link, trace);
    const std::string counter = link.name + " utilisation";
    for (const LinkSeries::Interval& each : link.intervals)
      trace.counter(kLinkProcess, counter, each.start_s, "%", 100 * link.utilisation(each));
    if (!link.intervals.empty())
      trace.counter(kLinkProcess, counter, link.intervals.back().end_s, "%", 0);
  }
}

}  // namespace

std::string chrome_trace(const Store& store, RunId id) {
  const std::optional<RunSummary> run = store.run(id);
  if (!run)
    throw StoreError("export", "run " + std::to_string(id), "there is no such run",
                     "list the runs with `gradwire list`");
  const std::vector<TimelineSegment> segments = store.timeline(id);
  if (segments.empty())
    throw StoreError("export", "run " + std::to_string(id), "it has no timeline",
                     "run it again with its timeline kept");
  const std::vector<TimelineSegment> path = store.critical_path(id);
  std::set<Key> critical;
  for (const TimelineSegment& piece : path) critical.insert(key_of(piece));
  Trace trace;
  add_segments(segments, critical, run->header.workers, trace);
  add_path(path, run->header.workers, trace);
  add_links(store.links(id), trace);
  Json document;
  document["displayTimeUnit"] = "ms";
  document["otherData"] = {{"run", id},
                           {"scenario", run->header.scenario_name},
                           {"scenario_hash", run->header.scenario_hash},
                           {"provenance", store.timeline_provenance(id)},
                           {"version", run->header.version}};
  document["traceEvents"] = trace.take();
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gradwire::results
