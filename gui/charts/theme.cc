#include "gui/charts/theme.h"

#include <QPainter>
#include <array>
#include <cmath>

namespace gradwire::gui {
namespace {

double luminance(const QColor& colour) {
  const auto linear = [](double channel) {
    return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
         0.0722 * linear(colour.blueF());
}

QColor mix(const QColor& a, const QColor& b, double share_of_b) {
  const auto channel = [&](double x, double y) { return float(x + (y - x) * share_of_b); };
  return QColor::fromRgbF(channel(a.redF(), b.redF()), channel(a.greenF(), b.greenF()),
                          channel(a.blueF(), b.blueF()));
}

}  // namespace

double contrast(const QColor& a, const QColor& b) {
  const double first = luminance(a) + 0.05, second = luminance(b) + 0.05;
  return first > second ? first / second : second / first;
}

QColor with_contrast(QColor colour, const QColor& background, double least) {
  const QColor target = luminance(background) > 0.18 ? Qt::black : Qt::white;
  for (int i = 0; i < 40 && contrast(colour, background) < least; ++i) {
    colour = mix(colour, target, 0.06);
  }
  return colour;
}

Theme theme_of(const QPalette& palette) {
  Theme theme;
  theme.background = palette.color(QPalette::Base);
  theme.gutter = palette.color(QPalette::Window);
  theme.dark = luminance(theme.background) < 0.18;
  theme.ink = with_contrast(palette.color(QPalette::Text), theme.background, 7);
  theme.faint_ink = with_contrast(mix(theme.ink, theme.background, 0.4), theme.background, 4.5);
  theme.axis = with_contrast(mix(theme.ink, theme.background, 0.5), theme.background, 3);
  theme.grid = mix(theme.background, theme.ink, theme.dark ? 0.16 : 0.10);
  theme.accent = with_contrast(palette.color(QPalette::Highlight), theme.background, 3);
  theme.card = mix(theme.background, theme.ink, theme.dark ? 0.14 : 0.03);
  return theme;
}

QColor category_colour(const Theme& theme, int index) {
  // Okabe and Ito, "Color Universal Design" (2008), without black.
  static constexpr std::array<QRgb, 7> kOkabeIto = {0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7,
                                                    0x56B4E9, 0xD55E00, 0xF0E442};
  const auto which = static_cast<std::size_t>(index) % kOkabeIto.size();
  return with_contrast(QColor(kOkabeIto[which]), theme.background, 3);
}

QColor ink_on(const QColor& fill) {
  return contrast(fill, Qt::black) > contrast(fill, Qt::white) ? Qt::black : Qt::white;
}

void paint_card(QPainter& painter, const Theme& theme, const QRect& bounds, const QPoint& at,
                const QStringList& lines) {
  if (lines.isEmpty()) return;
  painter.save();
  QFont title = painter.font();
  title.setBold(true);
  const QFontMetrics plain(painter.font()), bold(title);
  int width = bold.horizontalAdvance(lines.front());
  for (const QString& line : lines.mid(1)) width = std::max(width, plain.horizontalAdvance(line));
  const int line_height = plain.height() + 1, margin = 8;
  QRect card(at + QPoint(14, 14),
             QSize(width + 2 * margin, int(lines.size()) * line_height + 2 * margin - 2));
  if (card.right() > bounds.right()) card.moveRight(at.x() - 10);
  if (card.bottom() > bounds.bottom()) card.moveBottom(at.y() - 10);
  card.moveLeft(std::max(card.left(), bounds.left() + 2));
  card.moveTop(std::max(card.top(), bounds.top() + 2));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.axis, 1));
  painter.setBrush(theme.card);
  painter.drawRoundedRect(QRectF(card).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  painter.setPen(with_contrast(theme.ink, theme.card, 4.5));
  int baseline = card.top() + margin + plain.ascent();
  for (int i = 0; i < lines.size(); ++i, baseline += line_height) {
    if (i == 0) painter.save(), painter.setFont(title);
    painter.drawText(card.left() + margin, baseline, lines[i]);
    if (i == 0) painter.restore();
  }
  painter.restore();
}

}  // namespace gradwire::gui
