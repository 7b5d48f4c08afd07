#include "results/report/timelines.h"

#include <algorithm>

#include "results/figures/svg.h"
#include "results/pages/data_table.h"
#include "results/report/choice.h"
#include "results/report/timeline_drawing.h"
#include "results/runs/place.h"

namespace gradwire::results {
namespace {

constexpr std::size_t kTimelines = 4, kHostRows = 12, kMostPieces = 600;
constexpr double kTimelineWidth = 1060;

/// "simulated (flow)"
std::string timeline_origin(const Store& store, const ReportGroup& group, RunId run) {
  return store.timeline_provenance(run) + " (" + engine_of(header_of(group)) + ")";
}

/// How long each host of the picture did what in the window.
DataTable host_table(const TimelineDrawing& drawing) {
  DataTable table;
  table.columns = {{"host", "", Quantity::kPlain, DataColumn::Kind::kText},
                   {"compute_s", "computes", Quantity::kSeconds},
                   {"exposed_codec_s", "encodes, decodes", Quantity::kSeconds},
                   {"exposed_s", "waits for the network", Quantity::kSeconds},
                   {"network_s", "sends, receives", Quantity::kSeconds}};
  for (const WorkerTimes& row : drawing.rows) {
    // Of the times as they are stored: in the picture's, pauses are closed.
    const auto host = std::ranges::find(drawing.window.hosts, row.worker, &WorkerTimes::worker);
    table.rows.push_back({host_name(row.worker, drawing.workers), seconds_of(host->compute),
                          seconds_of(host->exposed_codec), seconds_of(host->exposed),
                          seconds_of(host->network)});
  }
  return table;
}

std::string picture_description(const TimelineDrawing& drawing) {
  std::string text = std::to_string(drawing.rows.size()) + " of " +
                     std::to_string(drawing.window.hosts.size()) +
                     " hosts over time: computing, encoding, waiting, transfers";
  return text + (drawing.window.path.empty() ? "." : ", and the critical path.");
}

/// `id` attribute of a place that has no anchor yet.
std::string anchor_html(const std::string& place, std::set<std::string>& anchors) {
  return anchors.insert(place).second ? " id=\"" + xml_escape(place) + "\"" : "";
}

std::string picture_html(const Store& store, const ReportGroup& group, TimelineDrawing drawing,
                         std::set<std::string>& anchors) {
  const RunId run = group.group.runs.front().id;
  const StepWindow& window = drawing.window;
  const std::string place = place_of(run, window.start_s, window.end_s);
  const std::string title = group.group.label + ", step " + std::to_string(window.step);
  drawing.heading = {title, place_of(run) + ", " +
                                format_value(window.length_s(), Quantity::kSeconds) + ", " +
                                timeline_origin(store, group, run)};
  SvgOptions options;
  options.inline_html = true;
  options.paint.width = kTimelineWidth;
  options.paint.height = height_of(drawing);
  const SvgHead head = {title,
                        picture_description(drawing),
                        {header_of(group).scenario_hash},
                        timeline_origin(store, group, run)};
  return "<figure class=\"wide\"" + anchor_html(place, anchors) + ">\n<div" +
         anchor_html(place_of(run), anchors) + ">\n" +
         to_svg(head, options, [&](Canvas& canvas) { paint(drawing, kTimelineWidth, canvas); }) +
         "</div>\n<p class=\"note\">In the desktop program: <code>gradwire gui " +
         xml_escape(place) + "</code> (<a href=\"#" + xml_escape(place) +
         "\">this place</a> of the page).</p>\n<details><summary>Table</summary>\n" +
         data_html(host_table(drawing)) + "</details>\n</figure>\n";
}

}  // namespace

std::string timelines_section(const Store& store, const ReportData& data,
                              std::set<std::string>& anchors) {
  std::string pictures;
  std::size_t drawn = 0, left = 0;
  for (const ReportGroup* group : compared_groups(data)) {
    const RunId run = group->group.runs.front().id;
    if (drawn == kTimelines) {
      ++left;
      continue;
    }
    auto window = middle_step(store.timeline(run), store.critical_path(run));
    if (!window) continue;
    ++drawn;
    pictures += picture_html(store, *group,
                             drawing_of(*std::move(window), header_of(*group).workers, kHostRows,
                                        kMostPieces, kTimelineWidth),
                             anchors);
  }
  if (pictures.empty()) return "";
  const std::string more = left == 0 ? ""
                                     : " The first " + std::to_string(drawn) + " of " +
                                           std::to_string(drawn + left) + " groups.";
  return "<h2>Timelines</h2>\n<div class=\"figures\">\n" + pictures +
         "</div>\n<p class=\"note\">The step in the middle of those that the first run of each "
         "group has stored, with the parts of its neighbours that overlap it. A gap above is idle. "
         "Of more than " +
         std::to_string(kHostRows) +
         " hosts those of the critical path, a server and others at even distances "
         "stand below the mean of all; pauses of less than half a pixel are closed, longer ones "
         "where there would be more than " +
         std::to_string(kMostPieces) +
         " pieces. All of it, to zoom and search: in the "
         "desktop program." +
         more + "</p>\n";
}

}  // namespace gradwire::results
