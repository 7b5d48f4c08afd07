#pragma once
#include <QAbstractTableModel>

#include "gui/models/columns.h"
#include "gui/models/run_view.h"

namespace gradwire::gui {

/// The run table's model: one row per shown run, one column per Column. Every change of snapshot,
/// filter or sort is a model reset; RunTable puts selection and scroll position back by run number.
class RunTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// The value in full precision (QString), for the clipboard and for tests.
  static constexpr int kFullTextRole = Qt::UserRole + 1;
  /// The difference to the baseline (QString, may be empty).
  static constexpr int kDeltaRole = Qt::UserRole + 2;
  /// Whether the row stands above the sort (pinned or baseline).
  static constexpr int kPinnedRole = Qt::UserRole + 3;

  using QAbstractTableModel::QAbstractTableModel;

  const RunView& view() const { return view_; }
  /// Applies `change` to the view inside a model reset.
  template <typename Change>
  void change(Change&& change) {
    beginResetModel();
    change(view_);
    endResetModel();
  }
  void set_number_style(NumberStyle style);
  NumberStyle number_style() const { return style_; }
  results::RunId run_at(int row) const { return view_.at(row).id; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  QVariant decorated_text(const results::RunSummary& run, Column column) const;

  RunView view_;
  NumberStyle style_;
};

}  // namespace gradwire::gui
