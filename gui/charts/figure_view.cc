#include "gui/charts/figure_view.h"

#include <QPainter>
#include <cmath>

#include "gui/charts/figure_table.h"
#include "gui/charts/painter_canvas.h"

namespace gradwire::gui {

using results::AxisMap;
using results::Interval;
using results::Pixel;

namespace {

constexpr double kReach = 10;  ///< pixels within which a point is hit

/// The part of an axis between two pixels.
Interval between(const AxisMap& axis, double first_pixel, double last_pixel) {
  Interval interval;
  interval.include(axis.value(first_pixel));
  interval.include(axis.value(last_pixel));
  return interval;
}

Interval narrowed(const AxisMap& axis, double anchor, double factor) {
  return between(axis, anchor + (axis.first_pixel() - anchor) * factor,
                 anchor + (axis.last_pixel() - anchor) * factor);
}

}  // namespace

FigureView::FigureView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  theme_ = theme_of(palette());
  setAccessibleDescription("A chart without points yet");
}

void FigureView::set_figure(results::Figure figure) {
  const bool same = figure.x.quantity == figure_.x.quantity && figure.x.label == figure_.x.label &&
                    figure.x.scale == figure_.x.scale && figure.y.label == figure_.y.label;
  figure_ = std::move(figure);
  unhittable_.clear();
  hovered_.reset();
  if (!same) x_view_ = y_view_ = Interval();
  setAccessibleDescription(QString::fromStdString(figure_.title + ". " + figure_.description) +
                           QString(" Ctrl+T shows it as a table."));
  invalidate();
}

DataTable FigureView::table() const {
  return figure_table(figure_, [this](std::size_t series, std::size_t point) {
    return card_text_ && hittable(series) ? card_text_({series, point}).value(0) : QString();
  });
}

void FigureView::invalidate() {
  cache_ = QPixmap();
  update();
}

void FigureView::render() {
  const double ratio = devicePixelRatioF();
  cache_ = QPixmap(size() * ratio);
  cache_.setDevicePixelRatio(ratio);
  cache_.fill(theme_.background);
  QPainter painter(&cache_);
  const results::Theme colours = figure_theme(theme_);
  PainterCanvas canvas(&painter, colours, font());
  results::PaintOptions options;
  options.width = width();
  options.height = height();
  options.font_size = QFontInfo(font()).pixelSize();
  options.with_title = with_title_;
  options.with_provenance = false;
  options.x_view = x_view_;
  options.y_view = y_view_;
  layout_.emplace(results::paint(figure_, options, canvas));
}

QPointF FigureView::position_of(const Hit& hit) {
  if (cache_.isNull()) render();
  const results::Series& series = figure_.series[hit.series];
  return {layout_->x.pixel(series.x[hit.point]), layout_->y.pixel(series.y[hit.point])};
}

void FigureView::paintEvent(QPaintEvent*) {
  if (cache_.isNull()) render();
  QPainter painter(this);
  painter.drawPixmap(0, 0, cache_);
  if (band_) {
    QColor tint = theme_.accent;
    painter.setPen(QPen(tint, 1));
    tint.setAlphaF(0.18F);
    painter.setBrush(tint);
    painter.drawRect(*band_);
  }
  if (!hovered_ || !card_text_) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme_.ink, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(position_of(*hovered_), 7, 7);
  paint_card(painter, theme_, rect(), pointer_, card_text_(*hovered_));
}

bool FigureView::hittable(std::size_t series) const {
  return series >= unhittable_.size() || !unhittable_[series];
}

std::optional<FigureView::Hit> FigureView::hit_at(const QPointF& at) const {
  if (!layout_ || !layout_->plot.contains({at.x(), at.y()})) return std::nullopt;
  std::optional<Hit> best;
  double reach = kReach;
  // The series drawn last lies on top, so at equal distance it wins.
  for (std::size_t s = figure_.series.size(); s-- > 0;) {
    const results::Series& series = figure_.series[s];
    if (!hittable(s)) continue;
    const auto point = results::nearest_point(series.x, series.y, layout_->x, layout_->y,
                                              Pixel{at.x(), at.y()}, reach);
    if (!point) continue;
    const double distance = std::hypot(layout_->x.pixel(series.x[*point]) - at.x(),
                                       layout_->y.pixel(series.y[*point]) - at.y());
    if (best && distance >= reach) continue;
    best = Hit{s, *point};
    reach = distance;
  }
  return best;
}

std::vector<FigureView::Hit> FigureView::hits_in(const QRectF& rect) const {
  std::vector<Hit> hits;
  for (std::size_t s = 0; layout_ && s < figure_.series.size(); ++s) {
    const results::Series& series = figure_.series[s];
    for (std::size_t i = 0; hittable(s) && i < series.x.size(); ++i) {
      const QPointF at(layout_->x.pixel(series.x[i]), layout_->y.pixel(series.y[i]));
      if (rect.contains(at)) hits.push_back({s, i});
    }
  }
  return hits;
}

void FigureView::set_view(const Interval& x, const Interval& y) {
  x_view_ = x;
  y_view_ = y;
  invalidate();
}

void FigureView::reset_zoom() {
  set_view({}, {});
  emit view_changed();
}

void FigureView::zoom_at(const QPointF& at, double factor, bool x, bool y) {
  if (!layout_) return;
  if (x) x_view_ = narrowed(layout_->x, at.x(), factor);
  if (y) y_view_ = narrowed(layout_->y, at.y(), factor);
  invalidate();
  emit view_changed();
}

void FigureView::zoom_centre(double factor, bool x, bool y) {
  if (!layout_) return;
  const results::Rect& plot = layout_->plot;
  zoom_at({plot.x + plot.width / 2, plot.y + plot.height / 2}, factor, x, y);
}

void FigureView::move_by(double dx, double dy) {
  if (!layout_) return;
  const auto moved = [](const AxisMap& axis, double pixels) {
    return between(axis, axis.first_pixel() + pixels, axis.last_pixel() + pixels);
  };
  x_view_ = moved(layout_->x, dx);
  y_view_ = moved(layout_->y, dy);
  invalidate();
  emit view_changed();
}

}  // namespace gradwire::gui
