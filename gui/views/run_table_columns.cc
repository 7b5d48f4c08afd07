#include <QHeaderView>

#include "gui/views/run_table.h"

/// Finding columns of the run table, and copying what they hold.
namespace gradwire::gui {

std::vector<PaletteEntry> RunTable::column_entries() {
  std::vector<PaletteEntry> entries;
  const RunColumns& columns = view().columns();
  for (int visual = 0; visual < columns.count(); ++visual) {
    const Column column = column_at(table_->horizontalHeader()->logicalIndex(visual));
    const bool hidden = table_->isColumnHidden(static_cast<int>(column));
    entries.push_back(
        {QString("%1    %2%3")
             .arg(columns.title(column), columns.key(column), hidden ? "    (hidden)" : ""),
         [this, column] { go_to_column(column); }});
  }
  return entries;
}

void RunTable::go_to_column(Column column) {
  const int section = static_cast<int>(column);
  if (section >= view().columns().count()) return;  // the runs were replaced meanwhile
  table_->setColumnHidden(section, false);
  const QModelIndex current = table_->currentIndex();
  const QModelIndex target = model_->index(current.isValid() ? current.row() : 0, section);
  syncing_ = true;
  table_->selectionModel()->setCurrentIndex(target, QItemSelectionModel::NoUpdate);
  syncing_ = false;
  table_->scrollTo(target, QAbstractItemView::PositionAtCenter);
  table_->setFocus();
}

QString RunTable::copied_text() const {
  QList<int> columns;
  for (int visual = 0; visual < view().columns().count(); ++visual) {
    const int logical = table_->horizontalHeader()->logicalIndex(visual);
    if (!table_->isColumnHidden(logical)) columns << logical;
  }
  QStringList lines, cells;
  for (int c : columns) cells << view().columns().key(column_at(c));
  lines << cells.join('\t');
  for (int row = 0; row < view().rows(); ++row) {
    if (!selection_->contains(model_->run_at(row))) continue;
    cells.clear();
    for (int c : columns) cells << view().columns().full_text(view().at(row), column_at(c));
    lines << cells.join('\t');
  }
  return lines.join('\n') + '\n';
}

}  // namespace gradwire::gui
