#pragma once
#include <QTableView>
#include <QTimer>
#include <QWidget>
#include <vector>

#include "gui/jobs/latest_job.h"
#include "gui/models/run_selection.h"
#include "gui/views/run_table.h"

namespace gradwire::gui {

class GroupModel;

/// The shown runs with those that differ in nothing but the seed taken together: mean, spread and
/// n. Selecting groups selects their runs. Computed beside the window, and only while it is in
/// front.
class GroupTable : public QWidget {
  Q_OBJECT

 public:
  GroupTable(RunTable* table, RunSelection* selection, QWidget* parent = nullptr);

  QTableView* table() const { return view_; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void rebuild();
  void take_selection();

  RunTable* runs_;
  RunSelection* selection_;
  GroupModel* model_;
  QTableView* view_;
  QTimer timer_;
  bool stale_ = true;
  bool building_ = false;
  LatestJob job_{"seeds"};
};

}  // namespace gradwire::gui
