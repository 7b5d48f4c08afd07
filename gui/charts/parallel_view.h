#pragma once
#include <QPixmap>
#include <QTimer>
#include <QWidget>

#include "gui/charts/colour_classes.h"
#include "gui/charts/parallel_axes.h"
#include "gui/charts/theme.h"
#include "gui/models/data_table.h"
#include "gui/views/run_table.h"

namespace gradwire::gui {

/// The shown runs as lines over parallel axes. Dragging along an axis marks a part of it, which
/// becomes the table's filter; a click on the axis takes the mark away. With keys: left and right
/// choose an axis, up and down move its lower mark, with Shift its upper one, Delete takes it away.
class ParallelView : public QWidget {
  Q_OBJECT

 public:
  ParallelView(RunTable* table, RunSelection* selection, QWidget* parent = nullptr);

  const std::vector<ParallelAxis>& axes() const { return axes_; }
  const Brushes& brushes() const { return brushes_; }
  /// The shown runs with their values on the axes.
  DataTable table() const;
  double axis_x(std::size_t axis) const;
  double axis_y(double place) const;
  void clear_brushes();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  QSize minimumSizeHint() const override { return {240, 160}; }

 private:
  void rebuild();
  void render();
  void go_on();
  void begin_lines(bool chosen);
  bool paint_lines(QPainter& painter);
  void paint_axes(QPainter& painter) const;
  void apply_brushes();
  std::optional<std::size_t> axis_at(double x) const;
  double place_at(double y) const;

  RunTable* table_;
  RunSelection* selection_;
  std::vector<ParallelAxis> axes_;
  Brushes brushes_;
  QString brushed_;  ///< the filter that the brushes made
  Theme theme_;
  QPixmap cache_;
  std::optional<RunClasses> classes_;  ///< of the picture in cache_: by method
  std::vector<QColor> colours_;        ///< of these
  bool chosen_ = false;                ///< lines that are drawn now
  int next_row_ = 0;                   ///< whose line it has not yet
  std::size_t met_ = 0;                ///< of them so far
  QTimer timer_, lines_timer_;
  std::optional<std::size_t> dragged_;
  std::size_t current_ = 0;  ///< the axis that keys move
  double drag_from_ = 0;
  bool stale_ = true;
};

}  // namespace gradwire::gui
