#pragma once
#include <QString>
#include <QStringList>
#include <map>
#include <optional>
#include <vector>

#include "gui/models/run_view.h"

/// Parallel coordinates without a widget: an axis a column that varies, a line a run.
namespace gradwire::gui {

struct ParallelAxis {
  Column column = Column::kRun;
  QString title;
  Quantity quantity = Quantity::kText;
  std::vector<QString> texts;  ///< of text columns: places from the bottom
  double low = 0, high = 1;    ///< of number columns
  bool logarithmic = false;    ///< more than two decades, all above 0

  bool is_text() const { return !texts.empty(); }
  /// 0 at the bottom to 1; none where the run has no value.
  std::optional<double> place(const RunColumns& columns, const results::RunSummary& run) const;
  double value_at(double place) const;  ///< of number columns
};

/// More axes would stand too close.
inline constexpr std::size_t kMostAxes = 12;

/// What the shown runs differ in: what was varied first, then what came of it. Identifiers and
/// texts of more than twenty values are left out.
std::vector<ParallelAxis> varying_axes(const RunView& view);

/// A part of an axis, from and to as places.
struct Brush {
  double from = 0, to = 1;
};
/// By column, so that a brush stays where axes come and go.
using Brushes = std::map<Column, Brush>;

/// The filter that the brushes stand for: "Bandwidth>=1e+08 and Bandwidth<=1e+09"; of texts those
/// whose place is inside; empty without brushes.
QString filter_of(const std::vector<ParallelAxis>& axes, const Brushes& brushes);

/// A filter of words as an expression, so that brushes can stand beside it.
QString words_as_filter(const QString& words);

}  // namespace gradwire::gui
