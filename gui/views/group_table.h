#pragma once
#include <QStandardItemModel>
#include <QTableView>
#include <QTimer>
#include <QWidget>
#include <vector>

#include "gui/models/run_selection.h"
#include "gui/views/run_table.h"

namespace gradwire::gui {

/// The shown runs with those that differ in nothing but the seed taken together: mean, spread and
/// n. Selecting groups selects their runs. Computed only while it is in front.
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
  QStandardItemModel* model_;
  QTableView* view_;
  QTimer timer_;
  bool stale_ = true;
  bool building_ = false;
  std::vector<std::vector<results::RunId>> members_;  ///< by group
};

}  // namespace gradwire::gui
