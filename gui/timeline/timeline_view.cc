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

constexpr double kZoomStep = 1.25;

}  // namespace

TimelineView::TimelineView(QWidget* parent)
    : QAbstractScrollArea(parent), placeholder_("Select a run to see its timeline.") {
  setAccessibleName("Timeline of the selected run");
  setAccessibleDescription("Rows per worker and lane; W and S zoom, A and D move");
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  viewport()->setMouseTracking(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  theme_ = theme_of(palette());
}

void TimelineView::set_timeline(TimelinePtr timeline) {
  const bool same = timeline && timeline_ && timeline->run == timeline_->run;
  timeline_ = std::move(timeline);
  rows_ = timeline_ ? build_rows(timeline_->segments) : TimelineRows();
  hovered_.reset();
  chosen_.reset();
  measure_.reset();
  update_scroll_range();
  if (!same) {
    // A whole run is a grey band; its last steps, in the steady state, say something.
    reset_zoom();
    if (rows_.steps.size() > 3) {
      const auto& steps = rows_.steps;
      window_.show(steps[steps.size() / 2].start_s, steps[steps.size() / 2 + 1].end_s,
                   rows_.start_s, rows_.end_s);
    }
  }
  window_changed();
}

void TimelineView::set_placeholder(const QString& text) {
  placeholder_ = text;
  viewport()->update();
}

void TimelineView::set_number_style(bool bits) {
  bits_ = bits;
  viewport()->update();
}

int TimelineView::row_height() const {
  // A few rows share the room there is; many keep a readable height and scroll.
  const int least = fontMetrics().height() * 3 / 2;
  if (rows_.rows.empty()) return least;
  const int fair = (viewport()->height() - axis_height()) / static_cast<int>(rows_.rows.size());
  return std::clamp(fair, least, least * 2);
}

int TimelineView::axis_height() const {
  return fontMetrics().height() * 5 / 2 + 8;
}

int TimelineView::gutter_width() const {
  return fontMetrics().horizontalAdvance("worker 9999  network") + 16;
}

int TimelineView::row_middle(int row) const {
  return axis_height() + row * row_height() - verticalScrollBar()->value() + row_height() / 2;
}

int TimelineView::row_at(int y) const {
  if (y < axis_height()) return -1;
  const int row = (y - axis_height() + verticalScrollBar()->value()) / row_height();
  return row < static_cast<int>(rows_.rows.size()) ? row : -1;
}

void TimelineView::update_scroll_range() {
  const int height = static_cast<int>(rows_.rows.size()) * row_height();
  const int page = std::max(1, viewport()->height() - axis_height());
  verticalScrollBar()->setRange(0, std::max(0, height - page));
  verticalScrollBar()->setPageStep(page);
  verticalScrollBar()->setSingleStep(row_height());
  window_.width = std::max(1, viewport()->width() - gutter_width());
}

const StepSpan* TimelineView::middle_step() const {
  if (rows_.steps.empty()) return nullptr;
  const double middle = window_.start_s + window_.length_s / 2;
  for (const StepSpan& step : rows_.steps) {
    if (middle <= step.end_s) return &step;
  }
  return &rows_.steps.back();
}

QString TimelineView::overlap_text() const {
  const StepSpan* step = middle_step();
  if (!step || !timeline_) return {};
  const OverlapNumbers numbers =
      overlap_numbers(rows_, timeline_->segments, step->step, timeline_->workers);
  const results::TimeSplit& split = numbers.split;
  const double hidden = split.network_s - split.exposed_s;
  const double share = split.network_s > 0 ? hidden / split.network_s : 0;
  return QString(
             "Step %1: %2 · compute %3 · codec %4 · network %5, of which %6 hidden (%7 %) "
             "and %8 exposed · mean of %9 %10 · %11")
      .arg(step->step)
      .arg(duration_text(numbers.step_s), duration_text(split.compute_s),
           duration_text(split.codec_s), duration_text(split.network_s), duration_text(hidden))
      .arg(share * 100, 0, 'f', 0)
      .arg(duration_text(split.exposed_s))
      .arg(split.workers)
      .arg(split.workers == 1 ? "worker" : "workers", timeline_->provenance);
}

QStringList TimelineView::hover_lines(std::uint32_t index) const {
  const TimelineSegment& segment = timeline_->segments[index];
  QStringList lines{QString::fromStdString(segment.label)};
  const QString who =
      segment.worker < 0 ? QString("all workers") : QString("worker %1").arg(segment.worker);
  lines << QString("%1, %2, step %3")
               .arg(who, name_of(group_of(segment.lane)), QString::number(segment.step));
  lines << QString("start %1").arg(duration_text(segment.start_s));
  lines << QString("duration %1").arg(duration_text(segment.end_s - segment.start_s));
  if (segment.bytes > 0) {
    lines << quantity_text(double(segment.bytes), Quantity::kBytes, NumberStyle{bits_});
  }
  return lines;
}

std::vector<TimelineSegment> TimelineView::visible_segments() const {
  std::vector<TimelineSegment> visible;
  const double end_s = window_.start_s + window_.length_s;
  if (!timeline_) return visible;
  for (const TimelineSegment& segment : timeline_->segments) {
    if (segment.end_s >= window_.start_s && segment.start_s <= end_s) visible.push_back(segment);
  }
  return visible;
}

void TimelineView::window_changed() {
  emit overlap_changed(overlap_text());
  if (timeline_) emit middle_changed(window_.start_s + window_.length_s / 2);
  viewport()->update();
}

void TimelineView::zoom(double factor, double x) {
  window_.zoom(factor, x, rows_.start_s, rows_.end_s);
  window_changed();
}

void TimelineView::reset_zoom() {
  window_.show(rows_.start_s, std::max(rows_.end_s, rows_.start_s + TimelineWindow::kShortest),
               rows_.start_s, rows_.end_s);
  window_changed();
}

void TimelineView::zoom_in() {
  zoom(kZoomStep * kZoomStep, window_.width / 2);
}
void TimelineView::zoom_out() {
  zoom(1 / (kZoomStep * kZoomStep), window_.width / 2);
}

void TimelineView::fit_step() {
  const StepSpan* step = middle_step();
  if (!step) return;
  window_.show(step->start_s, step->end_s, rows_.start_s, rows_.end_s);
  window_changed();
}

void TimelineView::centre_on(double time_s) {
  if (!timeline_) return;
  window_.pan(window_.x_of(time_s) - window_.width / 2, rows_.start_s, rows_.end_s);
  const QSignalBlocker quiet(this);  // who asks knows the time
  window_changed();
}

void TimelineView::fit_chosen() {
  if (!chosen_) return fit_step();
  const TimelineSegment& segment = timeline_->segments[*chosen_];
  const double middle = (segment.start_s + segment.end_s) / 2;
  const bool centred = std::abs(window_.x_of(middle) - window_.width / 2) < 1;
  if (centred) {
    window_.show(segment.start_s, segment.end_s, rows_.start_s, rows_.end_s);
  } else {
    window_.pan(window_.x_of(middle) - window_.width / 2, rows_.start_s, rows_.end_s);
  }
  window_changed();
}

void TimelineView::choose_neighbour(int direction) {
  if (!chosen_) return;
  for (const TimelineRow& row : rows_.rows) {
    const auto it = std::find(row.segments.begin(), row.segments.end(), *chosen_);
    if (it == row.segments.end()) continue;
    const auto next = (it - row.segments.begin()) + direction;
    if (next < 0 || next >= static_cast<std::ptrdiff_t>(row.segments.size())) return;
    chosen_ = row.segments[static_cast<std::size_t>(next)];
    const TimelineSegment& segment = timeline_->segments[*chosen_];
    const double x = window_.x_of((segment.start_s + segment.end_s) / 2);
    if (x < 0 || x > window_.width) {
      window_.pan(x - window_.width / 2, rows_.start_s, rows_.end_s);
    }
    window_changed();
    return;
  }
}

double TimelineView::snapped(double time_s, int y) const {
  constexpr double kSnapPixels = 6;
  const int row = row_at(y);
  if (row < 0) return time_s;
  const double slack = kSnapPixels * window_.length_s / window_.width;
  const auto index =
      segment_at(rows_.rows[static_cast<std::size_t>(row)], timeline_->segments, time_s, slack);
  if (!index) return time_s;
  const TimelineSegment& segment = timeline_->segments[*index];
  for (double edge : {segment.start_s, segment.end_s}) {
    if (std::abs(edge - time_s) <= slack) return edge;
  }
  return time_s;
}

}  // namespace gradwire::gui
