#include "gui/timeline/timeline_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "gui/models/columns.h"

namespace gradwire::gui {

using results::TimelineSegment;

namespace {

QString duration_text(double seconds) {
  return QString::fromStdString(format_duration(Seconds(seconds)));
}

/// Statements over the window follow a drag at this distance.
constexpr int kOverlapMs = 40;

}  // namespace

TimelineView::TimelineView(QWidget* parent)
    : QAbstractScrollArea(parent), placeholder_("Select a run to see its timeline.") {
  setAccessibleName("Timeline of the selected run");
  setAccessibleDescription(
      "Rows per worker and lane, and per link; W and S zoom, A and D move, full stop and comma go "
      "through a row, up and down change it. Ctrl+T shows it as a table");
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  viewport()->setMouseTracking(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  theme_ = theme_of(palette());
  overlap_timer_.setSingleShot(true);
  overlap_timer_.setInterval(kOverlapMs);
  connect(&overlap_timer_, &QTimer::timeout, this,
          [this] { emit overlap_changed(overlap_text()); });
}

void TimelineView::set_timelines(TimelinePtr timeline, TimelinePtr second) {
  const bool same = timeline && tracks_[0] && timeline->run == tracks_[0]->run;
  const bool same_second = second && tracks_[1] && second->run == tracks_[1]->run;
  if (!timeline) second = nullptr;
  tracks_ = {std::move(timeline), std::move(second)};
  if (!same || !same_second) shift_s_ = 0;
  hovered_.reset();
  chosen_.reset();
  link_.reset();
  area_.reset();
  chain_ = {};
  path_marks_ = {};
  overlaps_.clear();
  order_.set_tracks(tracks_);
  update_scroll_range();
  if (!same) {
    // A whole run is a grey band; its last steps, in the steady state, say something.
    reset_zoom();
    const auto& steps = rows().steps;
    if (steps.size() > 3) {
      show_range(steps[steps.size() / 2].start_s, steps[steps.size() / 2 + 1].end_s);
    }
  }
  window_changed();
  emit overlap_changed(overlap_text());
  emit area_changed();
  search(words_);
  say_chosen();
}

void TimelineView::set_placeholder(const QString& text) {
  placeholder_ = text;
  viewport()->update();
}

void TimelineView::set_number_style(bool bits) {
  bits_ = bits;
  viewport()->update();
}

const TimelineRows& TimelineView::rows() const {
  static const TimelineRows none;
  return tracks_[0] ? tracks_[0]->rows : none;
}

const TimelineRow& TimelineView::row_of_place(const ShownRow& shown) const {
  return timeline(shown.track).rows.rows[static_cast<std::size_t>(shown.row)];
}

double TimelineView::first_s() const {
  const double first = rows().start_s;
  return tracks_[1] ? std::min(first, tracks_[1]->rows.start_s + shift_s_) : first;
}

double TimelineView::last_s() const {
  const double last = rows().end_s;
  return tracks_[1] ? std::max(last, tracks_[1]->rows.end_s + shift_s_) : last;
}

int TimelineView::row_height() const {
  // A few rows share the room there is; many keep a readable height and scroll.
  const int least = fontMetrics().height() * 3 / 2;
  if (order_.rows().empty()) return least;
  const int fair = (viewport()->height() - axis_height()) / static_cast<int>(order_.rows().size());
  return std::clamp(fair, least, least * 2);
}

int TimelineView::axis_height() const {
  return fontMetrics().height() * 5 / 2 + 8;
}

int TimelineView::gutter_width() const {
  return fontMetrics().horizontalAdvance("switch → worker99  100 %") + 16;
}

int TimelineView::top_of(int place) const {
  const int scroll = place < order_.fixed() ? 0 : verticalScrollBar()->value();
  return axis_height() + place * row_height() - scroll;
}

int TimelineView::row_middle(int row) const {
  return top_of(order_.place_of(0, row)) + row_height() / 2;
}

int TimelineView::place_at(int y) const {
  if (y < axis_height()) return -1;
  const int below = y - axis_height();
  const int scroll = below < fixed_height() ? 0 : verticalScrollBar()->value();
  const int place = (below + scroll) / row_height();
  return place < static_cast<int>(order_.rows().size()) ? place : -1;
}

void TimelineView::update_scroll_range() {
  const int height = static_cast<int>(order_.rows().size()) * row_height();
  const int page = std::max(1, viewport()->height() - axis_height());
  verticalScrollBar()->setRange(0, std::max(0, height - page));
  verticalScrollBar()->setPageStep(page);
  verticalScrollBar()->setSingleStep(row_height());
  window_.width = std::max(1, viewport()->width() - gutter_width());
}

const StepSpan* TimelineView::middle_step(int track) const {
  const auto& steps = timeline(track).rows.steps;
  if (steps.empty()) return nullptr;
  const TimelineWindow window = window_of(track);
  const double middle = window.start_s + window.length_s / 2;
  const auto it =
      std::ranges::find_if(steps, [&](const StepSpan& step) { return middle <= step.end_s; });
  return it == steps.end() ? &steps.back() : &*it;
}

QString TimelineView::overlap_line(int track) const {
  const StepSpan* step = middle_step(track);
  if (!step) return {};
  const RunTimeline& run = timeline(track);
  const auto [it, fresh] = overlaps_.try_emplace({track, step->step});
  if (fresh) it->second = overlap_numbers(run.rows, run.segments, step->step, run.workers);
  const results::TimeSplit& split = it->second.split;
  const double hidden = split.network_s - split.exposed_s;
  const double share = split.network_s > 0 ? hidden / split.network_s : 0;
  return QString(
             "Step %1: %2 · compute %3 · codec %4 · network %5, of which %6 hidden (%7 %) "
             "and %8 exposed · mean of %9 %10 · %11")
      .arg(step->step)
      .arg(duration_text(it->second.step_s), duration_text(split.compute_s),
           duration_text(split.codec_s), duration_text(split.network_s), duration_text(hidden))
      .arg(share * 100, 0, 'f', 0)
      .arg(duration_text(split.exposed_s))
      .arg(split.workers)
      .arg(split.workers == 1 ? "worker" : "workers", run.provenance);
}

QString TimelineView::overlap_text() const {
  QStringList lines;
  for (int track = 0; track < 2; ++track) {
    if (!tracks_[std::size_t(track)]) continue;
    const QString line = overlap_line(track);
    if (!line.isEmpty()) lines << QString("Run %1 · ").arg(timeline(track).run) + line;
  }
  return lines.join('\n');
}

QStringList TimelineView::hover_lines(SegmentRef at) const {
  const RunTimeline& run = timeline(at.track);
  const TimelineSegment& segment = run.segments[at.segment];
  QStringList lines{QString::fromStdString(segment.label)};
  const bool waits = segment.lane == kWaitLane;
  lines << QString("%1, %2, step %3")
               .arg(host_text(segment.worker, run.workers),
                    waits ? "neither computes nor encodes" : name_of(group_of(segment.lane)),
                    QString::number(segment.step));
  lines << QString("start %1").arg(duration_text(segment.start_s));
  lines << QString("duration %1").arg(duration_text(segment.end_s - segment.start_s));
  if (segment.bytes > 0) {
    lines << quantity_text(double(segment.bytes), Quantity::kBytes, NumberStyle{bits_});
  }
  return lines;
}

std::vector<TimelineSegment> TimelineView::visible_segments(int track) const {
  std::vector<TimelineSegment> visible;
  if (!tracks_[std::size_t(track)]) return visible;
  const RunTimeline& run = timeline(track);
  const TimelineWindow window = window_of(track);
  for (std::size_t i = 0; i < run.stored; ++i) {
    const TimelineSegment& segment = run.segments[i];
    if (segment.end_s >= window.start_s && segment.start_s <= window.end_s()) {
      visible.push_back(segment);
    }
  }
  return visible;
}

DataTable TimelineView::table() const {
  DataTable table;
  table.header = {"Run", "Step", "Where", "Lane", "What", "Start", "Duration", "Size"};
  std::size_t all = 0;
  for (const ShownRow& shown : order_.rows()) {
    if (shown.heading() || row_of_place(shown).link >= 0) continue;
    const RunTimeline& run = timeline(shown.track);
    const TimelineRow& row = row_of_place(shown);
    const TimelineWindow window = window_of(shown.track);
    for (std::size_t i = row.first_reaching(window.start_s); i < row.segments.size(); ++i) {
      if (row.start[i] > window.end_s()) break;
      if (row.end[i] < window.start_s || ++all > kMostTableRows) continue;
      const TimelineSegment& segment = run.segments[row.segments[i]];
      table.rows.push_back({QString::number(run.run), QString::number(segment.step),
                            host_text(segment.worker, run.workers), name_of(row.group),
                            QString::fromStdString(segment.label), duration_text(segment.start_s),
                            duration_text(segment.end_s - segment.start_s),
                            segment.bytes > 0 ? quantity_text(double(segment.bytes),
                                                              Quantity::kBytes, NumberStyle{bits_})
                                              : QString()});
    }
  }
  table.title = QString("Timeline from %1 to %2")
                    .arg(duration_text(window_.start_s), duration_text(window_.end_s())) +
                counted(all, "segments");
  return table;
}

}  // namespace gradwire::gui
