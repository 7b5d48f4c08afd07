#pragma once
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QTimer>
#include <QWidget>
#include <map>

#include "gui/charts/figure_view.h"
#include "gui/charts/tradeoff_figure.h"
#include "gui/views/run_table.h"

namespace gradwire::gui {

/// The trade-off chart with its choices: what is on x, its scale, and whether the front is drawn.
/// Shows what the table shows; clicking a point selects its run.
class TradeoffView : public QWidget {
  Q_OBJECT

 public:
  /// Curves of more selected runs than this would hide each other; the rings stay.
  static constexpr std::size_t kMostCurves = 24;

  TradeoffView(RunTable* table, RunSelection* selection, Database* database,
               QWidget* parent = nullptr);

  FigureView* chart() const { return chart_; }
  /// Where the point of a run is drawn, in chart pixels (tests); none if it is not drawn.
  std::optional<QPointF> position_of(results::RunId run) const;
  QString note() const { return note_->text(); }

 private:
  void build();
  void request_curves();
  void rebuild();
  void take_curve(const CurvePtr& curve);
  void click(const FigureView::Hit& hit, Qt::KeyboardModifiers modifiers);
  void mark(const std::vector<FigureView::Hit>& hits);
  QStringList card(const FigureView::Hit& hit) const;
  results::RunId run_of(const FigureView::Hit& hit) const;

  RunTable* table_;
  RunSelection* selection_;
  Database* database_;
  FigureView* chart_;
  QComboBox* cost_;
  QCheckBox* log_;
  QCheckBox* front_;
  QLabel* note_;
  QTimer rebuild_timer_;
  TradeoffFigure built_;
  std::map<results::RunId, CurvePtr> curves_;
};

}  // namespace gradwire::gui
