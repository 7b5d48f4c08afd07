#include <QPainter>
#include <QScrollBar>
#include <array>
#include <cmath>
#include <utility>

#include "base/units.h"
#include "gui/charts/ticks.h"
#include "gui/timeline/timeline_view.h"

namespace gradwire::gui {

namespace {

QString measured_duration(double seconds) {
  return QString::fromStdString(format_duration(Seconds(seconds)));
}

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
  static constexpr std::array<int, kPhases> kCategory = {4, 0, 3, 2, 6, 1, 5, 0};
  if (phase == Phase::kOther) return theme.axis;
  return category_colour(theme, kCategory[static_cast<std::size_t>(phase)]);
}

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), theme_.background);
  if (!timeline_ || rows_.rows.empty()) {
    painter.setPen(theme_.faint_ink);
    painter.drawText(viewport()->rect(), Qt::AlignCenter,
                     timeline_ ? QString("This run has no stored timeline.") : placeholder_);
    return;
  }
  paint_chart(painter);
  if (measure_) paint_measure(painter);
  if (hovered_) {
    paint_card(painter, theme_, viewport()->rect(), pointer_, hover_lines(*hovered_));
  }
}

void TimelineView::paint_chart(QPainter& painter) const {
  paint_rows(painter);
  paint_axis(painter);
  paint_gutter(painter);
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
  if (timeline_) paint_chart(painter);
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

void TimelineView::paint_rows(QPainter& painter) const {
  const int height = row_height(), left = gutter_width();
  const int scroll = verticalScrollBar()->value();
  painter.save();
  painter.setClipRect(left, axis_height(), int(window_.width), viewport()->height());
  painter.setPen(theme_.axis);
  for (const StepSpan& step : rows_.steps) {
    // Step boundaries, unless they would be a grey wall.
    const double x = window_.x_of(step.start_s);
    if (x < 0 || x > window_.width || window_.x_of(step.end_s) - x < 24) continue;
    painter.setPen(QPen(theme_.grid, 1));
    painter.drawLine(QPointF(left + x, axis_height()), QPointF(left + x, viewport()->height()));
  }
  for (int row = 0; row < int(rows_.rows.size()); ++row) {
    const int top = axis_height() + row * height - scroll;
    if (top + height < axis_height() || top > viewport()->height()) continue;
    paint_row(painter, row, top);
  }
  painter.restore();
}

void TimelineView::paint_row(QPainter& painter, int row, int top) const {
  const TimelineRow& lane = rows_.rows[static_cast<std::size_t>(row)];
  const int left = gutter_width(), height = row_height();
  std::vector<TimelineBlock> blocks;
  visible_blocks(lane, timeline_->segments, window_, blocks);
  std::array<QColor, kPhases> colours, inks;
  for (int p = 0; p < kPhases; ++p) {
    colours[std::size_t(p)] = phase_colour(theme_, Phase(p));
    inks[std::size_t(p)] = ink_on(colours[std::size_t(p)]);
  }
  const int least_text = fontMetrics().horizontalAdvance("mm");
  for (const TimelineBlock& block : blocks) {
    QRectF box(left + block.x0, top + 2, std::max(block.x1 - block.x0, 1.0), height - 4);
    if (box.width() > 3) box.adjust(0, 0, -1, 0);
    const auto phase = static_cast<std::size_t>(block.phase);
    painter.fillRect(box, colours[phase]);
    if (block.count == 1 && box.width() > least_text) {
      const QRectF text = box.intersected(QRectF(left, top, window_.width, height));
      painter.setPen(inks[phase]);
      painter.drawText(
          text.adjusted(4, 0, -2, 0), Qt::AlignVCenter | Qt::AlignLeft,
          fontMetrics().elidedText(QString::fromStdString(timeline_->segments[block.segment].label),
                                   Qt::ElideRight, int(text.width()) - 6));
    }
    const bool marked = chosen_ && block.count == 1 && block.segment == *chosen_;
    if (marked) {
      painter.setPen(QPen(theme_.ink, 2));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(box.adjusted(1, 1, -1, -1));
    }
  }
}

void TimelineView::paint_gutter(QPainter& painter) const {
  const int left = gutter_width(), height = row_height();
  painter.save();
  painter.setClipRect(0, axis_height(), viewport()->width(), viewport()->height());
  painter.fillRect(0, axis_height(), left - 1, viewport()->height(), theme_.gutter);
  for (int row = 0; row < int(rows_.rows.size()); ++row) {
    const int top = axis_height() + row * height - verticalScrollBar()->value();
    if (top + height < axis_height() || top > viewport()->height()) continue;
    const TimelineRow& lane = rows_.rows[std::size_t(row)];
    const bool first = row == 0 || rows_.rows[std::size_t(row - 1)].worker != lane.worker;
    if (first && row > 0) {
      painter.setPen(theme_.grid);
      painter.drawLine(0, top, viewport()->width(), top);
    }
    const QRect box(8, top, left - 16, height);
    const QColor ink = with_contrast(theme_.ink, theme_.gutter, 4.5);
    painter.setPen(ink);
    if (first) {
      painter.drawText(
          box, Qt::AlignVCenter | Qt::AlignLeft,
          lane.worker < 0 ? QString("all workers") : QString("worker %1").arg(lane.worker));
    }
    painter.setPen(with_contrast(theme_.faint_ink, theme_.gutter, 4.5));
    painter.drawText(box, Qt::AlignVCenter | Qt::AlignRight, name_of(lane.group));
  }
  painter.restore();
  painter.setPen(theme_.axis);
  painter.drawLine(left - 1, axis_height(), left - 1, viewport()->height());
}

void TimelineView::paint_legend(QPainter& painter) const {
  std::array<bool, kPhases> used{};
  for (const results::TimelineSegment& segment : timeline_->segments) {
    used[static_cast<std::size_t>(phase_of(segment))] = true;
  }
  int x = gutter_width() + 4;
  const int side = fontMetrics().ascent() - 2, top = 5;
  for (int p = 0; p < kPhases; ++p) {
    if (!used[std::size_t(p)]) continue;
    painter.fillRect(x, top + 2, side, side, phase_colour(theme_, Phase(p)));
    x += side + 5;
    painter.setPen(theme_.ink);
    painter.drawText(x, top + fontMetrics().ascent(), name_of(Phase(p)));
    x += fontMetrics().horizontalAdvance(name_of(Phase(p))) + 16;
  }
}

void TimelineView::paint_measure(QPainter& painter) const {
  const double from = std::min(measure_->from_s, measure_->to_s);
  const double to = std::max(measure_->from_s, measure_->to_s);
  const int left = gutter_width();
  QRectF band(left + window_.x_of(from), axis_height(), 0, viewport()->height());
  band.setRight(left + window_.x_of(to));
  band = band.intersected(QRectF(left, axis_height(), window_.width, viewport()->height()));
  QColor tint = theme_.accent;
  tint.setAlphaF(0.22F);
  painter.fillRect(band, tint);
  painter.setPen(QPen(theme_.accent, 1.5));
  painter.drawLine(band.topLeft(), band.bottomLeft());
  painter.drawLine(band.topRight(), band.bottomRight());
  paint_card(painter, theme_, viewport()->rect(), band.topRight().toPoint(),
             {measured_duration(to - from),
              QString("from %1 to %2").arg(measured_duration(from), measured_duration(to))});
}

}  // namespace gradwire::gui
