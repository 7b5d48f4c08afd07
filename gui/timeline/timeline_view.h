#pragma once
#include <QAbstractScrollArea>
#include <QTimer>
#include <map>
#include <optional>

#include "gui/charts/theme.h"
#include "gui/models/data_table.h"
#include "gui/timeline/row_order.h"
#include "gui/timeline/timeline_geometry.h"
#include "gui/timeline/timeline_path.h"
#include "gui/timeline/timeline_search.h"

namespace gradwire::gui {

/// The timeline of the selected run, and below it that of another one over the same axis: a row per
/// worker and lane, and per direction of a link, time from left to right.
///
/// W/S zoom, A/D pan, Ctrl+wheel zooms at the pointer, dragging pans, Shift+drag marks a range of
/// time (edges snap to segments), [ and ] do with keys, F centres and then fits the chosen segment,
/// "." and "," step through its row, up and down change the row, N and Shift+N go to the next and
/// previous one found, C shows what the chosen one waited for, P pins its row, T moves the second
/// run so that the step in the middle begins with the first one's.
class TimelineView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  struct Range {
    double from_s = 0, to_s = 0;
    bool operator==(const Range&) const = default;
  };

  explicit TimelineView(QWidget* parent = nullptr);

  /// Null: nothing selected, or nothing to compare with. The time window is kept when the same run
  /// is loaded again.
  void set_timelines(TimelinePtr timeline, TimelinePtr second = nullptr);
  /// Said in the middle while there is nothing to show.
  void set_placeholder(const QString& text);
  void set_number_style(bool bits);

  const Tracks& tracks() const { return tracks_; }
  /// Of the first run.
  const TimelineRows& rows() const;
  const RowOrder& order() const { return order_; }
  const TimelineWindow& window() const { return window_; }
  /// How much later the second run is drawn.
  double shift_s() const { return shift_s_; }
  std::optional<SegmentRef> chosen() const { return chosen_; }
  std::optional<Range> area() const;
  const CriticalChain& chain() const { return chain_; }
  const std::vector<SegmentRef>& found() const { return found_; }
  /// Where no segment is found: links whose name has the words.
  const std::vector<ShownRow>& found_links() const { return found_links_; }
  /// Overlap of the step in the middle of the window, a line a run; empty without a timeline.
  QString overlap_text() const;
  QStringList hover_lines(SegmentRef segment) const;
  /// Stored segments that reach into the window of time, in stored order.
  std::vector<results::TimelineSegment> visible_segments(int track) const;
  /// The same with the waits, as a table; of very many the first.
  DataTable table() const;
  /// What is on screen, without hover and selection, in dark on light.
  void paint_for_paper(QPainter& painter);
  /// Left edge of the plotted area and middle of a row of the first run, in viewport coordinates.
  int gutter_width() const;
  int row_middle(int row) const;

 public slots:
  void reset_zoom();
  void zoom_in();
  void zoom_out();
  void fit_step();  ///< shows exactly the step in the middle
  void fit_chosen();
  void show_range(double from_s, double to_s);    ///< with a little room beside it
  void show_exactly(double from_s, double to_s);  ///< from edge to edge
  /// The time in the middle, at the same zoom.
  void centre_on(double time_s);
  void choose(gradwire::gui::SegmentRef segment);
  void choose_link(int track, int row);
  /// Marks a range of time of which statistics are wanted; empty ones take it away.
  void mark_area(double from_s, double to_s);
  /// Lights up what is found (timeline_search.h); empty: everything as usual.
  void search(const QString& words);
  void choose_found(int direction);  ///< 1: the next one, -1: the previous one
  /// What the chosen segment's end waited for, or the run's end where none is chosen; again: as
  /// usual.
  void toggle_path();
  void toggle_pin();  ///< of the row of what is chosen, else of the row under the pointer
  void toggle_align();

 signals:
  void middle_changed(double time_s);
  void overlap_changed(const QString& text);
  void area_changed();
  /// What is chosen, or its critical path, in words.
  void chosen_changed(const QString& text);
  void found_changed();

 protected:
  bool event(QEvent* event) override;
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
  struct Marked {
    Range range;
    bool dragging = false;
  };
  struct RowColours;

  const RunTimeline& timeline(int track) const { return *tracks_[std::size_t(track)]; }
  const TimelineRow& row_of_place(const ShownRow& shown) const;
  double first_s() const;
  double last_s() const;
  TimelineWindow window_of(int track) const { return window_.before(track == 1 ? shift_s_ : 0); }
  int row_height() const;
  int axis_height() const;
  int fixed_height() const { return order_.fixed() * row_height(); }
  int top_of(int place) const;
  int place_at(int y) const;  ///< -1: no row
  std::optional<SegmentRef> hit(const QPoint& at, double slack_s) const;
  double snapped(double time_s, int y) const;
  const StepSpan* middle_step(int track) const;
  QString overlap_line(int track) const;
  void window_changed();
  void zoom(double factor, double x);
  void pan_by(double pixels);
  void choose_neighbour(int direction);
  void choose_row(int direction);
  void choose_first();
  void mark_edge(bool from);
  void reveal(SegmentRef segment);
  void reveal_place(int place);
  QString link_text() const;
  void rows_changed();
  void say_chosen();
  void show_path(CriticalChain chain, int track);
  bool leave();
  bool move_with_key(QKeyEvent* event);
  bool choose_with_key(QKeyEvent* event);
  void update_scroll_range();

  void paint_chart(QPainter& painter) const;
  void paint_axis(QPainter& painter) const;
  void paint_rows(QPainter& painter, int first, int last) const;
  void paint_row(QPainter& painter, int place) const;
  void paint_block(QPainter& painter, const TimelineBlock& block, const ShownRow& shown,
                   const QRectF& box, const RowColours& colours) const;
  void paint_link(QPainter& painter, const ShownRow& shown, int top) const;
  void paint_heading(QPainter& painter, const ShownRow& shown, int top) const;
  void paint_gutter(QPainter& painter, int first, int last) const;
  void paint_gutter_row(QPainter& painter, int place) const;
  void paint_link_name(QPainter& painter, const ShownRow& shown, const QRect& box) const;
  void paint_path(QPainter& painter) const;
  void paint_area(QPainter& painter) const;
  void paint_legend(QPainter& painter) const;

  Tracks tracks_;
  RowOrder order_;
  TimelineWindow window_;
  QString placeholder_;
  bool bits_ = false;
  double shift_s_ = 0;
  Theme theme_;
  std::optional<SegmentRef> hovered_, chosen_;
  QPoint pointer_, drag_from_;
  bool dragging_ = false, moved_ = false;
  std::optional<Marked> area_;
  CriticalChain chain_;
  int chain_track_ = 0;
  std::optional<ShownRow> link_;  ///< chosen instead of a segment
  QString words_;
  std::vector<SegmentRef> found_;
  std::vector<ShownRow> found_links_;
  std::array<RowMarks, 2> path_marks_, found_marks_;  ///< by track
  QTimer overlap_timer_;
  /// By track and step: panning asks again and again.
  mutable std::map<std::pair<int, std::int64_t>, OverlapNumbers> overlaps_;
};

/// Colour of a phase on the theme's background, 3:1.
QColor phase_colour(const Theme& theme, Phase phase);

}  // namespace gradwire::gui
