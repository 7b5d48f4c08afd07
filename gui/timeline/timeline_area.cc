#include "gui/timeline/timeline_area.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "gui/timeline/timeline_geometry.h"

namespace gradwire::gui {

using results::TimelineSegment;

namespace {

QString area_duration(double seconds) {
  return QString::fromStdString(format_duration(Seconds(seconds)));
}

QString area_percent(double share) {
  return QString::number(100 * share, 'f', 1) + " %";
}

void count_segment(const TimelineSegment& segment, double inside_s, AreaPhase& phase) {
  const double length_s = segment.end_s - segment.start_s;
  phase.least_s = phase.count == 0 ? length_s : std::min(phase.least_s, length_s);
  phase.most_s = std::max(phase.most_s, length_s);
  phase.mean_s += length_s;
  phase.inside_s += inside_s;
  ++phase.count;
}

void add_links(const RunTimeline& timeline, AreaStatistics& area) {
  for (const results::LinkSeries& link : timeline.links) {
    const double bytes = link_bytes(link, area.from_s, area.to_s);
    const double room = link.rate_bps / 8 * (area.to_s - area.from_s);
    if (bytes > 0) area.links.push_back({link.name, bytes, room > 0 ? bytes / room : 0});
  }
  std::ranges::stable_sort(area.links, std::ranges::greater(), &AreaStatistics::Link::utilisation);
}

}  // namespace

AreaStatistics area_statistics(const RunTimeline& timeline, double from_s, double to_s) {
  AreaStatistics area;
  area.from_s = from_s;
  area.to_s = to_s;
  area.workers = timeline.workers;
  std::array<AreaPhase, kPhases> phases{};
  std::vector<TimelineSegment> inside;
  for (const TimelineRow& row : timeline.rows.rows) {
    for (std::size_t i = row.first_reaching(from_s); i < row.segments.size(); ++i) {
      if (row.start[i] >= to_s) break;
      const double from = std::max(row.start[i], from_s), to = std::min(row.end[i], to_s);
      if (to <= from) continue;
      const TimelineSegment& segment = timeline.segments[row.segments[i]];
      count_segment(segment, to - from, phases[static_cast<std::size_t>(row.phase[i])]);
      if (segment.lane == kWaitLane) continue;
      inside.push_back({segment.step, segment.worker, segment.lane, {}, from, to, 0});
    }
  }
  for (int p = 0; p < kPhases; ++p) {
    AreaPhase& phase = phases[static_cast<std::size_t>(p)];
    if (phase.count == 0) continue;
    phase.phase = Phase(p);
    phase.mean_s /= static_cast<double>(phase.count);
    area.phases.push_back(phase);
  }
  area.split = results::split_of(inside, timeline.workers);
  add_links(timeline, area);
  return area;
}

QString area_text(const AreaStatistics& area) {
  const results::TimeSplit& split = area.split;
  const double share = split.network_s > 0 ? area.hidden_s() / split.network_s : 0;
  return QString(
             "%1 to %2, %3: compute %4, codec %5, network %6, of which %7 hidden (%8 %) and "
             "%9 exposed")
             .arg(area_duration(area.from_s), area_duration(area.to_s),
                  area_duration(area.to_s - area.from_s), area_duration(split.compute_s),
                  area_duration(split.codec_s), area_duration(split.network_s),
                  area_duration(area.hidden_s()), QString::number(100 * share, 'f', 0),
                  area_duration(split.exposed_s)) +
         QString(" · means over %1 %2")
             .arg(split.workers)
             .arg(split.workers == 1 ? "worker" : "workers");
}

DataTable area_table(const AreaStatistics& area) {
  DataTable table;
  table.title = area_text(area);
  table.header = {"What", "Count",  "Inside, all workers", "Share of their time", "Shortest",
                  "Mean", "Longest"};
  const double all_s = (area.to_s - area.from_s) * std::max(1, area.split.workers);
  for (const AreaPhase& phase : area.phases) {
    table.rows.push_back({name_of(phase.phase), QString::number(phase.count),
                          area_duration(phase.inside_s), area_percent(phase.inside_s / all_s),
                          area_duration(phase.least_s), area_duration(phase.mean_s),
                          area_duration(phase.most_s)});
  }
  for (const auto& [name, seconds] : {std::pair("network, overlap taken out", area.split.network_s),
                                      std::pair("  hidden behind work", area.hidden_s()),
                                      std::pair("  exposed communication", area.split.exposed_s)}) {
    const double sum_s = seconds * area.split.workers;
    table.rows.push_back({name, "", area_duration(sum_s), area_percent(sum_s / all_s), "", "", ""});
  }
  for (const AreaStatistics::Link& link : area.links) {
    table.rows.push_back(
        {"link " + QString::fromStdString(link.name), "",
         QString::fromStdString(format_bytes(Bytes(static_cast<std::int64_t>(link.bytes)))),
         area_percent(link.utilisation), "", "", ""});
  }
  return table;
}

}  // namespace gradwire::gui
