#pragma once
#include <QPixmap>
#include <QWidget>
#include <functional>
#include <optional>

#include "gui/charts/theme.h"
#include "gui/models/data_table.h"
#include "results/figures/figure_painter.h"

namespace gradwire::gui {

/// Shows a Figure: wheel zooms at the pointer, dragging moves, Shift+drag marks a rectangle, 0 or
/// Home shows everything again, arrows move, + and - zoom, x/X and y/Y zoom one axis. The picture
/// is cached; hovering only draws the card.
class FigureView : public QWidget {
  Q_OBJECT

 public:
  /// A point of the figure.
  struct Hit {
    std::size_t series = 0, point = 0;
    bool operator==(const Hit&) const = default;
  };
  using CardText = std::function<QStringList(const Hit&)>;

  explicit FigureView(QWidget* parent = nullptr);

  /// Keeps the zoom unless an axis changed its meaning.
  void set_figure(results::Figure figure);
  void set_with_title(bool on) { with_title_ = on; }
  void set_card_text(CardText text) { card_text_ = std::move(text); }
  /// Series that cannot be hit (a front, a decoration) say so here.
  void set_unhittable(std::vector<bool> unhittable) { unhittable_ = std::move(unhittable); }
  const results::Figure& figure() const { return figure_; }
  /// The same as a table; points are named as their cards are.
  DataTable table() const;
  /// Where a point is drawn, in widget pixels (for tests).
  QPointF position_of(const Hit& hit);
  const results::Interval& x_view() const { return x_view_; }  ///< empty = everything
  const results::Interval& y_view() const { return y_view_; }
  void set_view(const results::Interval& x, const results::Interval& y);
  bool zoomed() const { return !x_view_.empty() || !y_view_.empty(); }

 public slots:
  void reset_zoom();
  void zoom_in() { zoom_centre(0.8, true, true); }
  void zoom_out() { zoom_centre(1.25, true, true); }

 signals:
  void clicked(const gradwire::gui::FigureView::Hit& hit, Qt::KeyboardModifiers modifiers);
  void background_clicked();
  /// What the axes show changed by the user's doing.
  void view_changed();
  /// Points inside a rectangle marked with Shift+drag.
  void marked(const std::vector<gradwire::gui::FigureView::Hit>& hits);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  QSize minimumSizeHint() const override { return {240, 160}; }

 private:
  void invalidate();
  void render();
  std::optional<Hit> hit_at(const QPointF& at) const;
  std::vector<Hit> hits_in(const QRectF& rect) const;
  void zoom_at(const QPointF& at, double factor, bool x, bool y);
  void zoom_centre(double factor, bool x, bool y);
  void move_by(double dx, double dy);
  bool hittable(std::size_t series) const;

  results::Figure figure_;
  std::vector<bool> unhittable_;
  CardText card_text_;
  Theme theme_;
  bool with_title_ = false;
  QPixmap cache_;
  std::optional<results::PlotLayout> layout_;
  results::Interval x_view_, y_view_;
  std::optional<Hit> hovered_;
  QPoint pointer_, press_;
  bool pressed_ = false, moved_ = false;
  std::optional<QRect> band_;
};

}  // namespace gradwire::gui
