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
  return parent.isValid() ? 0 : kColumns;
}

QVariant RunTableModel::decorated_text(const RunSummary& run, Column column) const {
  const QString shown = shown_text(run, column, style_);
  // Room between a number's right edge and the text that follows it.
  if (!is_number(column)) return QStringLiteral("\u2002") + shown;
  if (column != Column::kRun) return shown;
  if (view_.baseline() && view_.baseline()->id == run.id) return "B  " + shown;
  return view_.pinned(run.id) ? "P  " + shown : shown;
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= view_.rows()) return {};
  const RunSummary& run = view_.at(index.row());
  const Column column = column_at(index.column());
  const RunSummary* baseline = view_.baseline();
  switch (role) {
    case Qt::DisplayRole:
      return decorated_text(run, column);
    case kFullTextRole:
      return full_text(run, column);
    case kDeltaRole:
      return baseline && baseline->id != run.id ? delta_text(run, *baseline, column) : QString();
    case kPinnedRole:
      return view_.pinned(run.id) || (baseline && baseline->id == run.id);
    case Qt::TextAlignmentRole:
      return int((is_number(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
      return column == Column::kStatus && !run.error.empty() ? QString::fromStdString(run.error)
                                                             : QVariant();
    default:
      return {};
  }
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  const ColumnInfo& column = info(column_at(section));
  if (role == Qt::DisplayRole) {
    return (is_number(column_at(section)) ? QString() : QStringLiteral("\u2002")) + column.title;
  }
  if (role == Qt::ToolTipRole) {
    const QString origin = origin_text(column_at(section));
    return QString("%1%2.\nIn filter expressions: %3")
        .arg(column.help, origin.isEmpty() ? "" : "; " + origin, column.key);
  }
  if (role == Qt::TextAlignmentRole) {
    return int((is_number(column_at(section)) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  return {};
}

void RunTableModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= kColumns) return;
  change([&](RunView& view) { view.sort(column_at(column), order == Qt::DescendingOrder); });
}

}  // namespace gradwire::gui
