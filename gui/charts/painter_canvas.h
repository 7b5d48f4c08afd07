#pragma once
#include <QFont>
#include <QPainter>

#include "gui/charts/theme.h"
#include "results/figures/figure_painter.h"

namespace gradwire::gui {

/// Draws the figures of results/ with a QPainter: the desktop program, the reports and the exports
/// show the same picture.
class PainterCanvas : public results::Canvas {
 public:
  PainterCanvas(QPainter* painter, const results::Theme& theme, const QFont& font);

  double text_width(std::string_view text, const results::TextStyle& style) const override;
  void polyline(std::span<const results::Pixel> points, const results::Stroke& stroke) override;
  void polygon(std::span<const results::Pixel> points, results::Role fill, double opacity) override;
  void rectangle(const results::Rect& rect, results::Role fill, double opacity) override;
  void marks(std::span<const results::Pixel> points, results::Mark mark, double size,
             results::Role color, double opacity) override;
  void text(results::Pixel at, std::string_view text, const results::TextStyle& style) override;
  void clip(const results::Rect& rect) override;
  void unclip() override;

 private:
  QColor colour(results::Role role, double opacity) const;
  QFont font(const results::TextStyle& style) const;
  QPixmap sprite(results::Mark mark, double size, const QColor& colour) const;

  QPainter* painter_;
  const results::Theme& theme_;
  QFont font_;
};

/// The figures' colours for a palette: its own background and ink, Okabe-Ito for series.
results::Theme figure_theme(const Theme& theme);
/// Of series number `number` of a figure.
QColor series_colour(const Theme& theme, int number);

}  // namespace gradwire::gui
