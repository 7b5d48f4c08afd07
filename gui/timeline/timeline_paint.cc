#include <QPainter>
#include <QScrollBar>
#include <array>
#include <cmath>
#include <utility>

#include "gui/charts/ticks.h"
#include "gui/timeline/timeline_view.h"

namespace gradwire::gui {

namespace {

/// One unit and the digits that tell neighbouring ticks apart.
QString tick_text(double seconds, double step) {
  static constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
  auto unit = kUnits.front();
  for (const auto& candidate : kUnits) {
    unit = candidate;
    if (step >= candidate.first * 0.01) break;
  }
  const int decimals = std::clamp(int(std::ceil(-std::log10(step / unit.first) - 1e-9)), 0, 9);
  return QString::number(seconds / unit.first, 'f', decimals) + " " + unit.second;
}

}  // namespace

QColor phase_colour(const Theme& theme, Phase phase) {
  // Blues compute, greens and yellows codec, vermillion the network.
  static constexpr std::array<int, kPhases> kCategory = {4, 0, 3, 2, 6, 1, 5, 0, 0};
  if (phase == Phase::kOther || phase == Phase::kWait) return theme.axis;
  // Contrasts that set the phases of one row apart in grey as well; on dark most are so already.
  static constexpr std::array<double, kPhases> kLight = {3, 5, 8, 4.6, 3, 7, 3, 3, 3};
  static constexpr std::array<double, kPhases> kDark = {3, 3, 12, 3, 3, 3, 3, 3, 3};
  const auto index = static_cast<std::size_t>(phase);
  return with_contrast(category_colour(theme, kCategory[index]), theme.background,
                       (theme.dark ? kDark : kLight)[index]);
}

/// Of one paint: by phase, lit and not.
struct TimelineView::RowColours {
  std::array<QColor, kPhases> full, faded, ink;
  bool lit = false;  ///< only what is marked is full

  RowColours(const Theme& theme, bool only_marked) : lit(only_marked) {
    for (std::size_t p = 0; p < kPhases; ++p) {
      full[p] = faded[p] = phase_colour(theme, Phase(p));
      faded[p].setAlphaF(0.22F);
      ink[p] = ink_on(full[p]);
    }
  }
};

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), theme_.background);
  if (order_.rows().empty()) {
    painter.setPen(theme_.faint_ink);
    painter.drawText(viewport()->rect(), Qt::AlignCenter,
                     tracks_[0] ? QString("This run has no stored timeline.") : placeholder_);
    return;
  }
  paint_chart(painter);
  if (area_) paint_area(painter);
  if (hovered_) {
    paint_card(painter, theme_, viewport()->rect(), pointer_, hover_lines(*hovered_));
  }
}

void TimelineView::paint_chart(QPainter& painter) const {
  const int count = static_cast<int>(order_.rows().size()), fixed = order_.fixed();
  const int below = axis_height() + fixed_height();
  const auto rows_in = [&](int first, int last, int top, int bottom) {
    painter.save();
    painter.setClipRect(0, top, viewport()->width(), bottom - top);
    paint_rows(painter, first, last);
    paint_gutter(painter, first, last);
    painter.restore();
  };
  rows_in(fixed, count, below, viewport()->height());
  if (fixed > 0) {
    painter.fillRect(0, axis_height(), viewport()->width(), fixed_height(), theme_.background);
    rows_in(0, fixed, axis_height(), below);
    painter.setPen(QPen(theme_.axis, 2));
    painter.drawLine(0, below, viewport()->width(), below);
  }
  if (!chain_.segments.empty()) paint_path(painter);
  paint_axis(painter);
  paint_legend(painter);
}

void TimelineView::paint_for_paper(QPainter& painter) {
  QPalette paper;
  paper.setColor(QPalette::Base, Qt::white);
  paper.setColor(QPalette::Window, QColor(0xf2, 0xf2, 0xf2));
  paper.setColor(QPalette::Text, Qt::black);
  const Theme screen = std::exchange(theme_, theme_of(paper));
  const auto chosen = std::exchange(chosen_, std::nullopt);
  painter.fillRect(viewport()->rect(), theme_.background);
  QFont paper_font = font();
  paper_font.setPixelSize(QFontInfo(font()).pixelSize());
  painter.setFont(paper_font);
  if (tracks_[0]) paint_chart(painter);
  theme_ = screen;
  chosen_ = chosen;
}

void TimelineView::paint_axis(QPainter& painter) const {
  const int left = gutter_width(), bottom = axis_height();
  painter.fillRect(0, 0, viewport()->width(), bottom, theme_.background);
  painter.setPen(theme_.axis);
  painter.drawLine(0, bottom - 1, viewport()->width(), bottom - 1);
  const int label = fontMetrics().horizontalAdvance("0000.000 ms") + 24;
  const auto ticks = round_ticks(window_.start_s, window_.start_s + window_.length_s,
                                 std::max(2, int(window_.width / label)));
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : window_.length_s;
  const int baseline = bottom - 6;
  for (double tick : ticks) {
    const int x = left + int(window_.x_of(tick));
    if (x < left) continue;
    painter.setPen(theme_.axis);
    painter.drawLine(x, bottom - 5, x, bottom - 1);
    painter.setPen(theme_.faint_ink);
    painter.drawText(x + 4, baseline, tick_text(tick, step));
  }
}

void TimelineView::paint_rows(QPainter& painter, int first, int last) const {
  const int height = row_height(), left = gutter_width();
  painter.save();
  painter.setClipRect(left, axis_height(), int(window_.width), viewport()->height(),
                      Qt::IntersectClip);
  for (int place = first; place < last; ++place) {
    const int top = top_of(place);
    if (top + height < axis_height() || top > viewport()->height()) continue;
    const ShownRow& shown = order_.rows()[std::size_t(place)];
    // Step boundaries, unless they would be a grey wall.
    const TimelineWindow window = window_of(shown.track);
    painter.setPen(QPen(theme_.grid, 1));
    for (const StepSpan& step : timeline(shown.track).rows.steps) {
      const double x = window.x_of(step.start_s);
      if (x < 0 || x > window.width || window.x_of(step.end_s) - x < 24) continue;
      painter.drawLine(QPointF(left + x, top), QPointF(left + x, top + height));
    }
    if (shown.heading()) continue;
    if (row_of_place(shown).link >= 0) {
      paint_link(painter, shown, top);
    } else {
      paint_row(painter, place);
    }
  }
  painter.restore();
}

void TimelineView::paint_row(QPainter& painter, int place) const {
  const ShownRow& shown = order_.rows()[std::size_t(place)];
  const int left = gutter_width(), top = top_of(place);
  const bool path = !chain_.segments.empty();
  const auto& marks = path ? path_marks_ : found_marks_;
  // A path fades the rest of its own run, a search the rest of both.
  const bool lit = path ? shown.track == chain_track_ : marks[0].any() || marks[1].any();
  const RowColours colours(theme_, lit);
  std::vector<TimelineBlock> blocks;
  visible_blocks(row_of_place(shown), window_of(shown.track), blocks);
  for (const TimelineBlock& block : blocks) {
    QRectF box(left + block.x0, top + 2, std::max(block.x1 - block.x0, 1.0), row_height() - 4);
    if (box.width() > 3) box.adjust(0, 0, -1, 0);
    paint_block(painter, block, shown, box, colours);
  }
}

void TimelineView::paint_block(QPainter& painter, const TimelineBlock& block, const ShownRow& shown,
                               const QRectF& box, const RowColours& colours) const {
  const auto phase = static_cast<std::size_t>(block.phase);
  const auto& marks = chain_.segments.empty() ? found_marks_ : path_marks_;
  const bool lit = !colours.lit || marks[std::size_t(shown.track)].any(std::size_t(shown.row),
                                                                       block.first, block.last);
  const QColor& fill = lit ? colours.full[phase] : colours.faded[phase];
  if (block.phase == Phase::kWait) {
    // Nothing is done: a hatched frame, that no colour stands for.
    if (box.width() > 3) painter.fillRect(box, QBrush(fill, Qt::BDiagPattern));
    painter.fillRect(QRectF(box.left(), box.center().y(), box.width(), 1), fill);
  } else {
    painter.fillRect(box, fill);
  }
  if (block.count != 1) return;
  const RunTimeline& run = timeline(shown.track);
  if (box.width() > 2.5 * fontMetrics().averageCharWidth() && block.phase != Phase::kWait && lit) {
    const QRectF text =
        box.intersected(QRectF(gutter_width(), box.top() - 2, window_.width, row_height()));
    painter.setPen(colours.ink[phase]);
    painter.drawText(
        text.adjusted(4, 0, -2, 0), Qt::AlignVCenter | Qt::AlignLeft,
        fontMetrics().elidedText(QString::fromStdString(run.segments[block.segment].label),
                                 Qt::ElideRight, int(text.width()) - 6));
  }
  if (!chosen_ || *chosen_ != SegmentRef{block.segment, shown.track}) return;
  painter.setPen(QPen(theme_.ink, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box.adjusted(1, 1, -1, -1));
}

void TimelineView::paint_link(QPainter& painter, const ShownRow& shown, int top) const {
  const auto& link =
      timeline(shown.track).links[static_cast<std::size_t>(row_of_place(shown).link)];
  const double room = row_height() - 4, bottom = top + row_height() - 2, left = gutter_width();
  painter.setPen(QPen(theme_.grid, 1));
  painter.drawLine(QPointF(left, bottom), QPointF(left + window_.width, bottom));
  QColor peak = phase_colour(theme_, Phase::kTransfer);
  const QColor mean = peak;
  peak.setAlphaF(0.3F);
  for (const LinkColumn& column : visible_columns(link, window_of(shown.track))) {
    const double width = std::max(column.x1 - column.x0, 1.0);
    const auto bar = [&](double busy, const QColor& colour) {
      const double high = std::min(busy, 1.0) * room;
      painter.fillRect(QRectF(left + column.x0, bottom - high, width, high), colour);
    };
    if (column.peak > column.mean) bar(column.peak, peak);
    bar(column.mean, mean);
  }
}

}  // namespace gradwire::gui
