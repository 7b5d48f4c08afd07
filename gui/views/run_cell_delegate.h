#pragma once
#include <QStyledItemDelegate>

namespace gradwire::gui {

/// Draws a cell of the run table: the value, and beside it, fainter, its difference to the
/// baseline.
class RunCellDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

}  // namespace gradwire::gui
