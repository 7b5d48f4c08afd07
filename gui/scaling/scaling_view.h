#pragma once
#include <QComboBox>
#include <QLabel>
#include <QSpinBox>
#include <QTimer>
#include <QWidget>

#include "gui/charts/figure_view.h"
#include "gui/jobs/latest_job.h"
#include "gui/models/database.h"
#include "gui/scaling/scaling_model.h"
#include "gui/views/run_table.h"

namespace gradwire::gui {

/// Scaling curves of the shown runs of one workload, with the model's error beneath. Fitted on a
/// thread of its own, and only while it is in front.
class ScalingView : public QWidget {
  Q_OBJECT

 public:
  ScalingView(RunTable* table, RunSelection* selection, Database* database,
              QWidget* parent = nullptr);

  FigureView* chart() const { return chart_; }
  FigureView* residuals() const { return residuals_; }
  QComboBox* kind() const { return kind_; }
  QComboBox* workload() const { return workload_; }
  QString note() const { return note_->text(); }
  const ScalingAnswer* answer() const { return answer_.get(); }

 signals:
  void answered();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void build();
  void fill_workloads();
  void ask();
  void take(const std::shared_ptr<const ScalingAnswer>& answer);
  void show_figures();
  void click(const FigureView* view, const FigureView::Hit& hit, Qt::KeyboardModifiers modifiers);
  QStringList card(const FigureView* view, const FigureView::Hit& hit) const;

  RunTable* table_;
  RunSelection* selection_;
  Database* database_;
  QComboBox *workload_, *kind_;
  QSpinBox* up_to_;
  FigureView *chart_, *residuals_;
  QLabel* note_;
  QTimer timer_;
  LatestJob job_;
  std::vector<WorkloadRuns> workloads_;
  std::shared_ptr<const ScalingAnswer> answer_;
  bool stale_ = true;
};

}  // namespace gradwire::gui
