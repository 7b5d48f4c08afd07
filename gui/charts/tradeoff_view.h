#pragma once
#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QTimer>
#include <QWidget>
#include <map>

#include "gui/charts/figure_view.h"
#include "gui/charts/tradeoff_figure.h"
#include "gui/models/view_state.h"
#include "gui/views/run_table.h"

namespace gradwire::gui {

/// The chart of runs with its choices: what is on x and y, their scales, what colours the points,
/// what splits them into panels, and whether the front is drawn. Shows what the table shows;
/// clicking a point selects its run.
class TradeoffView : public QWidget {
  Q_OBJECT

 public:
  /// Curves of more selected runs than this would hide each other; the rings stay.
  static constexpr std::size_t kMostCurves = 24;
  static constexpr std::size_t kMostPanels = 9;

  TradeoffView(RunTable* table, RunSelection* selection, Database* database,
               QWidget* parent = nullptr);

  /// The panel that has the focus, else the first.
  FigureView* chart() const;
  std::size_t panels() const { return built_.size(); }
  FigureView* panel(std::size_t number) const { return charts_[number]; }
  /// Where the point of a run is drawn, in its chart's pixels (tests); none if it is not drawn.
  std::optional<QPointF> position_of(results::RunId run) const;
  QString note() const { return note_->text(); }
  /// By title of a column ("Workers"); false where there is none.
  bool choose_x(const QString& title) { return choose(x_, title); }
  bool choose_y(const QString& title) { return choose(y_, title); }
  bool choose_colour(const QString& title) { return choose(colour_, title); }
  /// An empty title: one panel.
  bool choose_panels(const QString& title) { return choose(facet_, title); }
  QStringList card_of(results::RunId run) const;
  void focus_choices() { x_->setFocus(); }
  void store_view(ViewState& view) const;
  /// Columns that this database does not have stay as they were.
  void show_view(const ViewState& view);

 signals:
  /// Axes, colour, panels or zoom.
  void view_changed();

 private:
  void build();
  QComboBox* add_choice(const char* label, const char* name);
  bool choose(QComboBox* box, const QString& title);
  void fill_choices();
  Column chosen(const QComboBox* box) const;
  void take_runs();
  void request_curves();
  void rebuild();
  TradeoffOptions options() const;
  void build_panels(const TradeoffOptions& options);
  void share_axes();
  void show_panels();
  FigureView* make_chart();
  void take_curve(const CurvePtr& curve);
  void click(std::size_t panel, const FigureView::Hit& hit, Qt::KeyboardModifiers modifiers);
  void mark(std::size_t panel, const std::vector<FigureView::Hit>& hits);
  void write_note(bool few);

  RunTable* table_;
  RunSelection* selection_;
  Database* database_;
  QGridLayout* grid_;
  QHBoxLayout* row_;
  QComboBox *x_, *y_, *colour_, *facet_;
  QCheckBox *log_x_, *log_y_, *front_;
  QLabel* note_;
  QTimer rebuild_timer_;
  std::vector<FigureView*> charts_;    ///< at least one; those beyond `built_` are hidden
  std::vector<TradeoffFigure> built_;  ///< by panel
  std::size_t hidden_panels_ = 0;
  std::map<results::RunId, CurvePtr> curves_;
  bool axes_chosen_ = false;
  std::optional<ViewState> asked_;  ///< its zoom is set once its figure is there
};

}  // namespace gradwire::gui
