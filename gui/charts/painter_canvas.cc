#include "gui/charts/painter_canvas.h"

#include <QPainterPath>
#include <QPixmap>
#include <cmath>

namespace gradwire::gui {

using results::Pixel;
using results::Role;

namespace {

QString text_of(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

results::Color color_from(const QColor& colour) {
  return {static_cast<std::uint8_t>(colour.red()), static_cast<std::uint8_t>(colour.green()),
          static_cast<std::uint8_t>(colour.blue())};
}

QPainterPath outline(results::Mark mark, double size) {
  QPainterPath path;
  const std::vector<Pixel> corners = results::mark_outline(mark, size);
  if (corners.empty()) {
    path.addEllipse(QPointF(0, 0), size / 2, size / 2);
    return path;
  }
  QPolygonF polygon;
  for (const Pixel& corner : corners) polygon << QPointF(corner.x, corner.y);
  path.addPolygon(polygon);
  path.closeSubpath();
  return path;
}

}  // namespace

results::Theme figure_theme(const Theme& theme) {
  results::Theme figure = theme.dark ? results::Theme::dark() : results::Theme::light();
  figure.background = color_from(theme.background);
  figure.ink = color_from(theme.ink);
  figure.muted = color_from(theme.faint_ink);
  figure.grid = color_from(theme.grid);
  for (results::Color& color : figure.series) {
    color = results::with_contrast(color, figure.background, 3);
  }
  return figure;
}

QColor series_colour(const Theme& theme, int number) {
  const results::Color color =
      results::color_of(figure_theme(theme), {results::Role::kSeries, number});
  return QColor(color.red, color.green, color.blue);
}

PainterCanvas::PainterCanvas(QPainter* painter, const results::Theme& theme, const QFont& font)
    : painter_(painter), theme_(theme), font_(font) {
  painter_->setRenderHint(QPainter::Antialiasing);
}

QColor PainterCanvas::colour(Role role, double opacity) const {
  const results::Color color = results::color_of(theme_, role);
  return QColor(color.red, color.green, color.blue, int(std::lround(opacity * 255)));
}

QFont PainterCanvas::font(const results::TextStyle& style) const {
  QFont font = font_;
  font.setPixelSize(std::max(1, int(std::lround(style.size))));
  font.setBold(style.bold);
  return font;
}

double PainterCanvas::text_width(std::string_view text, const results::TextStyle& style) const {
  return QFontMetricsF(font(style)).horizontalAdvance(text_of(text));
}

void PainterCanvas::polyline(std::span<const Pixel> points, const results::Stroke& stroke) {
  QPen pen(colour(stroke.color, stroke.opacity), stroke.width);
  pen.setCapStyle(Qt::FlatCap);
  pen.setJoinStyle(Qt::RoundJoin);
  const auto pattern = results::dash_pattern(stroke.dash);
  if (!pattern.empty()) pen.setDashPattern(QList<qreal>(pattern.begin(), pattern.end()));
  QPolygonF line;
  line.reserve(static_cast<qsizetype>(points.size()));
  for (const Pixel& point : points) line << QPointF(point.x, point.y);
  painter_->setPen(pen);
  painter_->setBrush(Qt::NoBrush);
  painter_->drawPolyline(line);
}

void PainterCanvas::polygon(std::span<const Pixel> points, Role fill, double opacity) {
  QPolygonF shape;
  for (const Pixel& point : points) shape << QPointF(point.x, point.y);
  painter_->setPen(Qt::NoPen);
  painter_->setBrush(colour(fill, opacity));
  painter_->drawPolygon(shape);
}

void PainterCanvas::rectangle(const results::Rect& rect, Role fill, double opacity) {
  painter_->fillRect(QRectF(rect.x, rect.y, rect.width, rect.height), colour(fill, opacity));
}

QPixmap PainterCanvas::sprite(results::Mark mark, double size, const QColor& colour) const {
  const double ratio = painter_->device()->devicePixelRatioF();
  const int side = int(std::ceil(size)) + 4;
  QPixmap pixmap(int(std::ceil(side * ratio)), int(std::ceil(side * ratio)));
  pixmap.setDevicePixelRatio(ratio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(side / 2.0, side / 2.0);
  if (mark == results::Mark::kRing) {
    painter.setPen(QPen(colour, 2));
    painter.drawPath(outline(mark, size - 2));
  } else {
    painter.fillPath(outline(mark, size), colour);
  }
  return pixmap;
}

void PainterCanvas::marks(std::span<const Pixel> points, results::Mark mark, double size,
                          Role color, double opacity) {
  if (mark == results::Mark::kNone || points.empty()) return;
  // One picture of the mark, drawn many times: fifteen times faster than as many outlines.
  const QPixmap picture = sprite(mark, size, colour(color, opacity));
  const double half = picture.width() / picture.devicePixelRatio() / 2;
  for (const Pixel& point : points) {
    painter_->drawPixmap(QPointF(point.x - half, point.y - half), picture);
  }
}

void PainterCanvas::text(Pixel at, std::string_view text, const results::TextStyle& style) {
  painter_->save();
  painter_->setFont(font(style));
  painter_->setPen(colour(style.color, 1));
  painter_->translate(at.x, at.y);
  painter_->rotate(style.rotation);
  double x = 0;
  if (style.align != results::Align::kStart) {
    const double width = text_width(text, style);
    x = style.align == results::Align::kMiddle ? -width / 2 : -width;
  }
  painter_->drawText(QPointF(x, 0), text_of(text));
  painter_->restore();
}

void PainterCanvas::clip(const results::Rect& rect) {
  painter_->save();
  painter_->setClipRect(QRectF(rect.x, rect.y, rect.width, rect.height));
}

void PainterCanvas::unclip() {
  painter_->restore();
}

}  // namespace gradwire::gui
