#pragma once
#include <QAbstractScrollArea>
#include <optional>

#include "gui/charts/theme.h"
#include "gui/models/database.h"
#include "gui/timeline/timeline_geometry.h"

namespace gradwire::gui {

/// The timeline of the selected run: a row per worker and lane, time from left to right.
/// W/S zoom, A/D pan, Ctrl+wheel zooms at the pointer, dragging pans, Shift+drag measures (edges
/// snap to segments), F centres and then fits the chosen segment, "." and "," step through its row.
class TimelineView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimelineView(QWidget* parent = nullptr);

  /// Null: nothing selected. The time window is kept when the same run is loaded again.
  void set_timeline(TimelinePtr timeline);
  /// Said in the middle while there is nothing to show.
  void set_placeholder(const QString& text);
  void set_number_style(bool bits);

  const TimelineRows& rows() const { return rows_; }
  const TimelineWindow& window() const { return window_; }
  std::optional<std::uint32_t> chosen() const { return chosen_; }
  /// Overlap of the step in the middle of the window, as one line; empty without a timeline.
  QString overlap_text() const;
  QStringList hover_lines(std::uint32_t segment) const;
  /// Segments that reach into the window of time, in stored order.
  std::vector<results::TimelineSegment> visible_segments() const;
  /// What is on screen, without hover and selection, in dark on light.
  void paint_for_paper(QPainter& painter);
  /// Left edge of the plotted area and middle of a row, in viewport coordinates (for tests).
  int gutter_width() const;
  int row_middle(int row) const;

 public slots:
  void reset_zoom();
  void zoom_in();
  void zoom_out();
  void fit_step();  ///< shows exactly the step in the middle
  void fit_chosen();
  /// The time in the middle, at the same zoom.
  void centre_on(double time_s);

 signals:
  void middle_changed(double time_s);
  void overlap_changed(const QString& text);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct Measure {
    double from_s = 0, to_s = 0;
    bool dragging = false;
  };

  int row_height() const;
  int axis_height() const;
  int row_at(int y) const;
  double snapped(double time_s, int y) const;
  const StepSpan* middle_step() const;
  void window_changed();
  void zoom(double factor, double x);
  void choose_neighbour(int direction);
  void measure_text(QStringList& lines) const;
  void update_scroll_range();

  void paint_chart(QPainter& painter) const;
  void paint_axis(QPainter& painter) const;
  void paint_rows(QPainter& painter) const;
  void paint_row(QPainter& painter, int row, int top) const;
  void paint_gutter(QPainter& painter) const;
  void paint_measure(QPainter& painter) const;
  void paint_legend(QPainter& painter) const;

  TimelinePtr timeline_;
  TimelineRows rows_;
  TimelineWindow window_;
  QString placeholder_;
  bool bits_ = false;
  Theme theme_;
  std::optional<std::uint32_t> hovered_, chosen_;
  QPoint pointer_, drag_from_;
  bool dragging_ = false, moved_ = false;
  std::optional<Measure> measure_;
};

/// Colour of a phase on the theme's background, 3:1.
QColor phase_colour(const Theme& theme, Phase phase);

}  // namespace gradwire::gui
