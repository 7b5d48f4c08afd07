#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "gui/models/columns.h"
#include "gui/timeline/timeline_view.h"

/// What the timeline shows and what is chosen in it.
namespace gradwire::gui {

using results::TimelineSegment;

namespace {
constexpr double kZoomStep = 1.25;
}  // namespace

void TimelineView::window_changed() {
  if (!overlap_timer_.isActive()) overlap_timer_.start();
  if (tracks_[0]) emit middle_changed(window_.start_s + window_.length_s / 2);
  viewport()->update();
}

void TimelineView::rows_changed() {
  update_scroll_range();
  viewport()->update();
}

void TimelineView::zoom(double factor, double x) {
  window_.zoom(factor, x, first_s(), last_s());
  window_changed();
}

void TimelineView::pan_by(double pixels) {
  window_.pan(pixels, first_s(), last_s());
  window_changed();
}

void TimelineView::reset_zoom() {
  show_range(first_s(), std::max(last_s(), first_s() + TimelineWindow::kShortest));
}

void TimelineView::zoom_in() {
  zoom(kZoomStep * kZoomStep, window_.width / 2);
}
void TimelineView::zoom_out() {
  zoom(1 / (kZoomStep * kZoomStep), window_.width / 2);
}

void TimelineView::show_range(double from_s, double to_s) {
  window_.show(from_s, to_s, first_s(), last_s());
  window_changed();
}

void TimelineView::show_exactly(double from_s, double to_s) {
  window_.start_s = from_s;
  window_.length_s = std::max(to_s - from_s, TimelineWindow::kShortest);
  pan_by(0);
}

void TimelineView::fit_step() {
  const StepSpan* step = tracks_[0] ? middle_step(0) : nullptr;
  if (step) show_range(step->start_s, step->end_s);
}

void TimelineView::centre_on(double time_s) {
  if (!tracks_[0]) return;
  const QSignalBlocker quiet(this);  // who asks knows the time
  pan_by(window_.x_of(time_s) - window_.width / 2);
}

void TimelineView::fit_chosen() {
  if (!chosen_) return fit_step();
  const TimelineSegment& segment = timeline(chosen_->track).segments[chosen_->segment];
  const double shift = chosen_->track == 1 ? shift_s_ : 0;
  const double x = window_.x_of((segment.start_s + segment.end_s) / 2 + shift);
  if (std::abs(x - window_.width / 2) < 1) {
    show_range(segment.start_s + shift, segment.end_s + shift);
  } else {
    pan_by(x - window_.width / 2);
  }
}

/// Scrolls where the segment is not on screen.
void TimelineView::reveal(SegmentRef at) {
  const RunTimeline& run = timeline(at.track);
  const TimelineSegment& segment = run.segments[at.segment];
  const double shift = at.track == 1 ? shift_s_ : 0;
  const double x = window_.x_of((segment.start_s + segment.end_s) / 2 + shift);
  if (x < 0 || x > window_.width) window_.pan(x - window_.width / 2, first_s(), last_s());
  reveal_place(order_.place_of(at.track, row_of(run, at.segment)));
}

void TimelineView::reveal_place(int place) {
  const int top = top_of(place), least = axis_height() + fixed_height();
  QScrollBar* bar = verticalScrollBar();
  if (place >= order_.fixed() && (top < least || top + row_height() > viewport()->height())) {
    bar->setValue(bar->value() + top - (least + viewport()->height()) / 2);
  }
}

void TimelineView::choose(SegmentRef segment) {
  chosen_ = segment;
  link_.reset();
  reveal(segment);
  // A path stays one of what is chosen.
  if (!chain_.segments.empty()) {
    show_path(chain_to(timeline(segment.track), segment.segment), segment.track);
  } else {
    say_chosen();
  }
  window_changed();
}

void TimelineView::choose_link(int track, int row) {
  leave();
  link_ = ShownRow{track, row, false};
  reveal_place(order_.place_of(track, row));
  say_chosen();
  viewport()->update();
}

/// How busy the chosen link is in the window.
QString TimelineView::link_text() const {
  const RunTimeline& run = timeline(link_->track);
  const auto& link = run.links[static_cast<std::size_t>(row_of_place(*link_).link)];
  const TimelineWindow window = window_of(link_->track);
  const double bytes = link_bytes(link, window.start_s, window.end_s());
  const double room = link.rate_bps / 8 * window.length_s;
  return QString("%1 · %2 · %3 in the window: %4 % busy")
      .arg(row_name(run, link_->row), quantity_text(link.rate_bps, Quantity::kRate, {}),
           quantity_text(bytes, Quantity::kBytes, NumberStyle{bits_}))
      .arg(room > 0 ? 100 * bytes / room : 0, 0, 'f', 1);
}

void TimelineView::say_chosen() {
  if (link_) {
    emit chosen_changed(link_text());
  } else if (!chain_.segments.empty()) {
    emit chosen_changed(chain_text(timeline(chain_track_), chain_));
  } else {
    emit chosen_changed(chosen_ ? hover_lines(*chosen_).join(" · ") : QString());
  }
}

void TimelineView::choose_first() {
  for (const ShownRow& shown : order_.rows()) {
    if (shown.heading() || row_of_place(shown).segments.empty()) continue;
    const TimelineRow& row = row_of_place(shown);
    const std::size_t first = row.first_reaching(window_of(shown.track).start_s);
    if (first < row.segments.size()) return choose({row.segments[first], shown.track});
  }
}

void TimelineView::choose_neighbour(int direction) {
  if (!chosen_) return choose_first();
  const RunTimeline& run = timeline(chosen_->track);
  const int row = row_of(run, chosen_->segment);
  if (row < 0) return;
  const auto& list = run.rows.rows[static_cast<std::size_t>(row)].segments;
  const auto next = (std::ranges::find(list, chosen_->segment) - list.begin()) + direction;
  if (next < 0 || next >= static_cast<std::ptrdiff_t>(list.size())) return;
  choose({list[static_cast<std::size_t>(next)], chosen_->track});
}

/// The nearest in time of the next row that has any, or the next link.
void TimelineView::choose_row(int direction) {
  if (!chosen_ && !link_) return choose_first();
  double time_s = window_.start_s + window_.length_s / 2;
  int place = 0;
  if (chosen_) {
    const RunTimeline& from = timeline(chosen_->track);
    const TimelineSegment& own = from.segments[chosen_->segment];
    time_s = (own.start_s + own.end_s) / 2 + (chosen_->track == 1 ? shift_s_ : 0);
    place = order_.place_of(chosen_->track, row_of(from, chosen_->segment));
  } else {
    place = order_.place_of(link_->track, link_->row);
  }
  const int count = static_cast<int>(order_.rows().size());
  for (place += direction; place >= 0 && place < count; place += direction) {
    const ShownRow& shown = order_.rows()[static_cast<std::size_t>(place)];
    if (shown.heading()) continue;
    if (row_of_place(shown).link >= 0) return choose_link(shown.track, shown.row);
    const double at_s = time_s - (shown.track == 1 ? shift_s_ : 0);
    const auto found = segment_at(row_of_place(shown), at_s, INFINITY);
    if (found) return choose({*found, shown.track});
  }
}

void TimelineView::toggle_pin() {
  if (chosen_) {
    order_.toggle_pin(tracks_, chosen_->track, row_of(timeline(chosen_->track), chosen_->segment));
    return rows_changed();
  }
  const int place = link_ ? order_.place_of(link_->track, link_->row) : place_at(pointer_.y());
  if (place < 0 || order_.rows()[std::size_t(place)].heading()) return;
  const ShownRow shown = order_.rows()[std::size_t(place)];
  order_.toggle_pin(tracks_, shown.track, shown.row);
  rows_changed();
}

void TimelineView::toggle_align() {
  if (!tracks_[1]) return;
  const StepSpan* step = middle_step(0);
  const auto& steps = timeline(1).rows.steps;
  const auto same = std::ranges::find(steps, step ? step->step : -1, &StepSpan::step);
  const bool aligned = shift_s_ != 0;
  shift_s_ = aligned || same == steps.end() ? 0 : step->start_s - same->start_s;
  window_.pan(0, first_s(), last_s());
  window_changed();
}

std::optional<TimelineView::Range> TimelineView::area() const {
  if (!area_ || area_->range.from_s == area_->range.to_s) return std::nullopt;
  return Range{std::min(area_->range.from_s, area_->range.to_s),
               std::max(area_->range.from_s, area_->range.to_s)};
}

void TimelineView::mark_area(double from_s, double to_s) {
  area_.reset();
  if (from_s != to_s) area_ = Marked{{from_s, to_s}, false};
  emit area_changed();
  viewport()->update();
}

/// An edge of the area at the chosen segment's, else in the middle of the window.
void TimelineView::mark_edge(bool from) {
  if (!tracks_[0]) return;
  double time_s = window_.start_s + window_.length_s / 2;
  if (chosen_) {
    const TimelineSegment& segment = timeline(chosen_->track).segments[chosen_->segment];
    time_s = (from ? segment.start_s : segment.end_s) + (chosen_->track == 1 ? shift_s_ : 0);
  }
  Range range = area().value_or(Range{first_s(), last_s()});
  (from ? range.from_s : range.to_s) = time_s;
  if (range.to_s <= range.from_s) (from ? range.to_s : range.from_s) = from ? last_s() : first_s();
  mark_area(range.from_s, range.to_s);
}

/// Takes away what was chosen, marked or lit; false where there was nothing.
bool TimelineView::leave() {
  if (!area_ && !chosen_ && !link_ && chain_.segments.empty()) return false;
  chosen_.reset();
  link_.reset();
  chain_ = {};
  path_marks_ = {};
  mark_area(0, 0);
  say_chosen();
  return true;
}

double TimelineView::snapped(double time_s, int y) const {
  constexpr double kSnapPixels = 6;
  const int place = place_at(y);
  if (place < 0 || order_.rows()[std::size_t(place)].heading()) return time_s;
  const ShownRow& shown = order_.rows()[std::size_t(place)];
  const double shift = shown.track == 1 ? shift_s_ : 0;
  const double slack = kSnapPixels * window_.length_s / window_.width;
  const auto index = segment_at(row_of_place(shown), time_s - shift, slack);
  if (!index) return time_s;
  const TimelineSegment& segment = timeline(shown.track).segments[*index];
  for (double edge : {segment.start_s + shift, segment.end_s + shift}) {
    if (std::abs(edge - time_s) <= slack) return edge;
  }
  return time_s;
}

std::optional<SegmentRef> TimelineView::hit(const QPoint& at, double slack_s) const {
  const int place = place_at(at.y());
  if (place < 0 || at.x() < gutter_width()) return std::nullopt;
  const ShownRow& shown = order_.rows()[std::size_t(place)];
  if (shown.heading()) return std::nullopt;
  const double time_s = window_of(shown.track).time_at(at.x() - gutter_width());
  const auto index = segment_at(row_of_place(shown), time_s, slack_s);
  return index ? std::optional(SegmentRef{*index, shown.track}) : std::nullopt;
}

}  // namespace gradwire::gui
