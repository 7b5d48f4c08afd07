#pragma once
#include <QAbstractTableModel>
#include <QTableView>

#include "gui/models/data_table.h"

namespace gradwire::gui {

class DataTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;

  void set_table(DataTable table);
  const DataTable& table() const { return table_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  DataTable table_;
};

/// Shows a DataTable; Ctrl+C copies the selected rows, or all where none is, tab-separated.
class DataTableView : public QTableView {
  Q_OBJECT

 public:
  explicit DataTableView(const QString& name, QWidget* parent = nullptr);

  void set_table(DataTable table);
  const DataTable& shown() const { return model_->table(); }
  QString copied_text() const;

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  DataTableModel* model_;
};

}  // namespace gradwire::gui
