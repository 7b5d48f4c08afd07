#pragma once
#include <QDialog>
#include <QLabel>
#include <functional>

#include "gui/views/data_table_view.h"

namespace gradwire::gui {

/// The table twin of the chart in front: the same data with names and units, for a screen reader
/// and for copying. Not modal; F5 reads the chart again, Esc goes back to it.
class ChartTable : public QDialog {
  Q_OBJECT

 public:
  using Read = std::function<DataTable()>;

  ChartTable(Read read, QWidget* parent);

  DataTableView* table() const { return table_; }
  void read_again();

 private:
  Read read_;
  QLabel* title_;
  DataTableView* table_;
};

}  // namespace gradwire::gui
