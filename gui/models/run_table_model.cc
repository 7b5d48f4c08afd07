#include "gui/models/run_table_model.h"

#include <QFont>

namespace gradwire::gui {

using results::RunSummary;

void RunTableModel::set_number_style(NumberStyle style) {
  change([&](RunView&) { style_ = style; });
}

int RunTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : view_.rows();
}

int RunTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : view_.columns().count();
}

QVariant RunTableModel::decorated_text(const RunSummary& run, Column column) const {
  const QString shown = view_.columns().shown_text(run, column, style_);
  // Room between a number's right edge and the text that follows it.
  if (!view_.columns().is_number(column)) return QStringLiteral("\u2002") + shown;
  if (column != Column::kRun) return shown;
  if (view_.baseline() && view_.baseline()->id == run.id) return "B  " + shown;
  return view_.pinned(run.id) ? "P  " + shown : shown;
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= view_.rows()) return {};
  const RunSummary& run = view_.at(index.row());
  const Column column = column_at(index.column());
  const RunSummary* baseline = view_.baseline();
  const RunColumns& columns = view_.columns();
  switch (role) {
    case Qt::DisplayRole:
      return decorated_text(run, column);
    case kFullTextRole:
      return columns.full_text(run, column);
    case kDeltaRole:
      return baseline && baseline->id != run.id ? columns.delta_text(run, *baseline, column)
                                                : QString();
    case kPinnedRole:
      return view_.pinned(run.id) || (baseline && baseline->id == run.id);
    case Qt::TextAlignmentRole:
      return int((columns.is_number(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
      return column == Column::kStatus && !run.error.empty() ? QString::fromStdString(run.error)
                                                             : QVariant();
    default:
      return {};
  }
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  const RunColumns& columns = view_.columns();
  if (orientation != Qt::Horizontal || section < 0 || section >= columns.count()) return {};
  const Column column = column_at(section);
  if (role == Qt::DisplayRole) {
    return (columns.is_number(column) ? QString() : QStringLiteral("\u2002")) +
           columns.title(column);
  }
  if (role == Qt::ToolTipRole) {
    return QString("%1.\nIn filter expressions: %2 or %3")
        .arg(columns.help(column), columns.title(column), columns.key(column));
  }
  if (role == Qt::TextAlignmentRole) {
    return int((columns.is_number(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  return {};
}

void RunTableModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= view_.columns().count()) return;
  change([&](RunView& view) { view.sort(column_at(column), order == Qt::DescendingOrder); });
}

}  // namespace gradwire::gui
