#include "gui/views/run_cell_delegate.h"

#include <QApplication>
#include <QPainter>

#include "gui/models/run_table_model.h"

namespace gradwire::gui {
namespace {

/// Room for "+99.9 %" or "×1.23e+04".
int delta_width(const QStyleOptionViewItem& option) {
  return option.fontMetrics.horizontalAdvance("  +99.9 pp");
}

bool has_deltas(const QModelIndex& index) {
  const auto* model = qobject_cast<const RunTableModel*>(index.model());
  if (!model) return false;
  const Quantity quantity = model->view().columns().quantity(column_at(index.column()));
  return model->view().baseline() && quantity != Quantity::kText &&
         quantity != Quantity::kIdentifier && quantity != Quantity::kCount;
}

}  // namespace

void RunCellDelegate::initStyleOption(QStyleOptionViewItem* option,
                                      const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  option->font.setBold(index.data(RunTableModel::kPinnedRole).toBool());
  option->fontMetrics = QFontMetrics(option->font);
  // Rows are selected, not cells: a focus frame around one cell says nothing.
  option->state &= ~QStyle::State_HasFocus;
}

QSize RunCellDelegate::sizeHint(const QStyleOptionViewItem& option,
                                const QModelIndex& index) const {
  QSize size = QStyledItemDelegate::sizeHint(option, index);
  size.rwidth() += option.fontMetrics.horizontalAdvance("n");
  if (has_deltas(index)) size.rwidth() += delta_width(option);
  return size;
}

void RunCellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
  if (!has_deltas(index)) {
    QStyledItemDelegate::paint(painter, option, index);
    return;
  }
  QStyleOptionViewItem cell = option;
  initStyleOption(&cell, index);
  const QString value = cell.text;
  cell.text.clear();
  QApplication::style()->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);
  const bool selected = cell.state & QStyle::State_Selected;
  const bool active = cell.state & QStyle::State_Active;
  const auto group = active ? QPalette::Active : QPalette::Inactive;
  QColor ink = cell.palette.color(group, selected ? QPalette::HighlightedText : QPalette::Text);
  const int margin = QApplication::style()->pixelMetric(QStyle::PM_FocusFrameHMargin) + 1;
  QRect place = cell.rect.adjusted(margin, 0, -margin, 0);
  painter->save();
  painter->setFont(cell.font);
  painter->setPen(ink);
  painter->drawText(place.adjusted(0, 0, -delta_width(option), 0),
                    Qt::AlignRight | Qt::AlignVCenter, value);
  ink.setAlphaF(0.72F);
  painter->setPen(ink);
  painter->drawText(place, Qt::AlignRight | Qt::AlignVCenter,
                    index.data(RunTableModel::kDeltaRole).toString());
  painter->restore();
}

}  // namespace gradwire::gui
