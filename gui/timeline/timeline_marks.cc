#include <QPainter>
#include <QScrollBar>
#include <array>
#include <cmath>

#include "base/units.h"
#include "gui/timeline/timeline_view.h"

/// What stands beside and above the rows: their names, the path, the marked range, the legend.
namespace gradwire::gui {

namespace {

QString marked_duration(double seconds) {
  return QString::fromStdString(format_duration(Seconds(seconds)));
}

}  // namespace

void TimelineView::paint_gutter(QPainter& painter, int first, int last) const {
  painter.fillRect(0, axis_height(), gutter_width() - 1, viewport()->height(), theme_.gutter);
  for (int place = first; place < last; ++place) {
    const int top = top_of(place);
    if (top + row_height() < axis_height() || top > viewport()->height()) continue;
    const ShownRow& shown = order_.rows()[std::size_t(place)];
    if (shown.heading()) {
      paint_heading(painter, shown, top);
    } else {
      paint_gutter_row(painter, place);
    }
  }
}

void TimelineView::paint_heading(QPainter& painter, const ShownRow& shown, int top) const {
  const QRect box(0, top, viewport()->width(), row_height());
  painter.fillRect(box, theme_.gutter);
  QFont bold = painter.font();
  bold.setBold(true);
  painter.save();
  painter.setFont(bold);
  painter.setPen(with_contrast(theme_.ink, theme_.gutter, 4.5));
  QString title = timeline(shown.track).title;
  if (title.isEmpty()) title = QString("run %1").arg(timeline(shown.track).run);
  if (shown.track == 1 && shift_s_ != 0) {
    title += QString(" · drawn %1 %2")
                 .arg(marked_duration(std::abs(shift_s_)), shift_s_ > 0 ? "later" : "earlier");
  }
  painter.drawText(box.adjusted(8, 0, -8, 0), Qt::AlignVCenter | Qt::AlignLeft,
                   QFontMetrics(bold).elidedText(title, Qt::ElideRight, box.width() - 16));
  painter.restore();
}

void TimelineView::paint_gutter_row(QPainter& painter, int place) const {
  const ShownRow& shown = order_.rows()[std::size_t(place)];
  const TimelineRow& lane = row_of_place(shown);
  const RunTimeline& run = timeline(shown.track);
  const int top = top_of(place), left = gutter_width();
  const auto before = place > 0 ? &order_.rows()[std::size_t(place - 1)] : nullptr;
  const bool first = !before || before->heading() || shown.pinned || before->pinned ||
                     row_of_place(*before).worker != lane.worker;
  if (first && place > 0) {
    painter.setPen(theme_.grid);
    painter.drawLine(0, top, viewport()->width(), top);
  }
  painter.setPen(theme_.axis);
  painter.drawLine(left - 1, top, left - 1, top + row_height());
  QRect box(8, top, left - 16, row_height());
  if (shown.pinned) {
    painter.fillRect(QRectF(0, top + 3, 4, row_height() - 6), theme_.accent);
  }
  if (link_ && link_->track == shown.track && link_->row == shown.row) {
    painter.setPen(QPen(theme_.ink, 2));
    painter.drawRect(box.adjusted(-6, 2, 6, -2));
  }
  painter.setPen(with_contrast(theme_.ink, theme_.gutter, 4.5));
  if (lane.link >= 0) return paint_link_name(painter, shown, box);
  QString host = host_text(lane.worker, run.workers);
  // Of two runs, a pinned row says whose it is.
  if (shown.pinned && tracks_[1]) host = QString("%1: ").arg(run.run) + host;
  if (first) painter.drawText(box, Qt::AlignVCenter | Qt::AlignLeft, host);
  painter.setPen(with_contrast(theme_.faint_ink, theme_.gutter, 4.5));
  painter.drawText(box, Qt::AlignVCenter | Qt::AlignRight, name_of(lane.group));
}

/// The link, and how busy it is in the window.
void TimelineView::paint_link_name(QPainter& painter, const ShownRow& shown,
                                   const QRect& box) const {
  const RunTimeline& run = timeline(shown.track);
  const auto& link = run.links[static_cast<std::size_t>(row_of_place(shown).link)];
  const TimelineWindow window = window_of(shown.track);
  const double room = link.rate_bps / 8 * window.length_s;
  const double busy = room > 0 ? link_bytes(link, window.start_s, window.end_s()) / room : 0;
  const QString share = QString("%1 %").arg(100 * busy, 0, 'f', 0);
  const int rest = box.width() - fontMetrics().horizontalAdvance(share) - 6;
  const QString name = row_name(run, shown.row).replace("->", "→");
  painter.drawText(box, Qt::AlignVCenter | Qt::AlignLeft,
                   fontMetrics().elidedText(name, Qt::ElideRight, rest));
  painter.setPen(with_contrast(theme_.faint_ink, theme_.gutter, 4.5));
  painter.drawText(box, Qt::AlignVCenter | Qt::AlignRight, share);
}

/// Lines from each operation of the path to the next one that it let begin.
void TimelineView::paint_path(QPainter& painter) const {
  const RunTimeline& run = timeline(chain_track_);
  const TimelineWindow window = window_of(chain_track_);
  const int left = gutter_width(), least = axis_height() + fixed_height();
  painter.save();
  painter.setClipRect(left, least, int(window_.width), viewport()->height() - least);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme_.ink, 1.5));
  std::optional<QPointF> from;
  for (const std::uint32_t i : chain_.segments) {
    const results::TimelineSegment& segment = run.segments[i];
    if (segment.end_s < window.start_s) continue;
    if (segment.start_s > window.end_s()) break;
    const int place = order_.place_of(chain_track_, row_of(run, i));
    const double y = top_of(place) + row_height() / 2.0;
    if (from && from->y() != y) painter.drawLine(*from, {from->x(), y});
    from = QPointF(left + window.x_of(segment.end_s), y);
  }
  painter.restore();
}

void TimelineView::paint_legend(QPainter& painter) const {
  std::array<bool, kPhases> used{};
  for (const TimelinePtr& track : tracks_) {
    for (std::size_t p = 0; track && p < kPhases; ++p) used[p] = used[p] || track->rows.phases[p];
  }
  int x = gutter_width() + 4;
  const int side = fontMetrics().ascent() - 2, top = 5;
  const auto text = [&](const QString& words) {
    painter.setPen(theme_.ink);
    painter.drawText(x, top + fontMetrics().ascent(), words);
    x += fontMetrics().horizontalAdvance(words) + 16;
  };
  for (int p = 0; p < kPhases; ++p) {
    if (!used[std::size_t(p)]) continue;
    const bool wait = Phase(p) == Phase::kWait;
    const QColor colour = phase_colour(theme_, Phase(p));
    painter.fillRect(x, top + 2, side, side,
                     wait ? QBrush(colour, Qt::BDiagPattern) : QBrush(colour));
    if (wait) painter.fillRect(x, top + 2 + side / 2, side, 1, colour);
    x += side + 5;
    text(name_of(Phase(p)));
  }
  if (tracks_[0] && !tracks_[0]->links.empty()) text("links: height = utilisation");
}

void TimelineView::paint_area(QPainter& painter) const {
  const double from = std::min(area_->range.from_s, area_->range.to_s);
  const double to = std::max(area_->range.from_s, area_->range.to_s);
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
             {marked_duration(to - from),
              QString("from %1 to %2").arg(marked_duration(from), marked_duration(to))});
}

}  // namespace gradwire::gui
