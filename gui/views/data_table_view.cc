#include "gui/views/data_table_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <set>

namespace gradwire::gui {

void DataTableModel::set_table(DataTable table) {
  beginResetModel();
  table_ = std::move(table);
  endResetModel();
}

int DataTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int DataTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.header.size());
}

QVariant DataTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || role != Qt::DisplayRole) return {};
  return table_.rows[static_cast<std::size_t>(index.row())].value(index.column());
}

QVariant DataTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || orientation != Qt::Horizontal) return {};
  return table_.header.value(section);
}

DataTableView::DataTableView(const QString& name, QWidget* parent)
    : QTableView(parent), model_(new DataTableModel(this)) {
  setModel(model_);
  setAccessibleName(name);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setAlternatingRowColors(true);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() * 3 / 2);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

void DataTableView::set_table(DataTable table) {
  setAccessibleDescription(table.title);
  model_->set_table(std::move(table));
  horizontalHeader()->setResizeContentsPrecision(200);
  resizeColumnsToContents();
  if (model_->rowCount() > 0) setCurrentIndex(model_->index(0, 0));
  clearSelection();
}

QString DataTableView::copied_text() const {
  std::set<int> chosen;
  for (const QModelIndex& index : selectionModel()->selectedRows()) chosen.insert(index.row());
  const DataTable& table = shown();
  QStringList lines{table.header.join('\t')};
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (chosen.empty() || chosen.contains(static_cast<int>(row))) {
      lines << table.rows[row].join('\t');
    }
  }
  return lines.join('\n') + "\n";
}

/// Copying means this table here, and the runs elsewhere.
bool DataTableView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride &&
      static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
    event->accept();
    return true;
  }
  return QTableView::event(event);
}

void DataTableView::keyPressEvent(QKeyEvent* event) {
  if (!event->matches(QKeySequence::Copy)) return QTableView::keyPressEvent(event);
  QApplication::clipboard()->setText(copied_text());
}

}  // namespace gradwire::gui
