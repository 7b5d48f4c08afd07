#include "gui/charts/parallel_axes.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace gradwire::gui {
namespace {

using results::RunSummary;

constexpr std::size_t kMostTexts = 20;
constexpr double kDecades = 100;

/// Where a text stands among n of them.
double text_place(std::size_t index, std::size_t count) {
  return (static_cast<double>(index) + 0.5) / static_cast<double>(count);
}

bool read_numbers(const RunView& view, ParallelAxis& axis) {
  double low = INFINITY, high = -INFINITY;
  for (int row = 0; row < view.rows(); ++row) {
    const auto value = view.columns().number(view.at(row), axis.column);
    if (!value || !std::isfinite(*value)) continue;
    low = std::min(low, *value);
    high = std::max(high, *value);
  }
  axis.low = low;
  axis.high = high;
  axis.logarithmic = low > 0 && high / low >= kDecades;
  return low < high;
}

bool read_texts(const RunView& view, ParallelAxis& axis) {
  std::set<QString> texts;
  for (int row = 0; row < view.rows() && texts.size() <= kMostTexts; ++row) {
    texts.insert(view.columns().raw_text(view.at(row), axis.column));
  }
  axis.texts.assign(texts.begin(), texts.end());
  return texts.size() > 1 && texts.size() <= kMostTexts;
}

/// What was chosen before what came of it.
std::vector<Column> candidates(const RunColumns& columns) {
  std::vector<Column> order = {Column::kMethod, Column::kWorkers};
  for (int c = kColumns; c < columns.count(); ++c) {
    if (columns.swept(column_at(c))->varied) order.push_back(column_at(c));
  }
  for (const Column column :
       {Column::kModel, Column::kExecutor, Column::kStepTime, Column::kAccuracy,
        Column::kTimeToTarget, Column::kWireBytes, Column::kTrafficRatio, Column::kSimulated,
        Column::kLoss, Column::kCompressionRatio}) {
    order.push_back(column);
  }
  return order;
}

QString number_text(double value) {
  return QString::number(value, 'g', 17);
}

QString part_of(const ParallelAxis& axis, const Brush& brush) {
  if (!axis.is_text()) {
    return QString("%1>=%2 and %1<=%3")
        .arg(axis.title, number_text(axis.value_at(brush.from)),
             number_text(axis.value_at(brush.to)));
  }
  QStringList parts;
  for (std::size_t i = 0; i < axis.texts.size(); ++i) {
    const double place = text_place(i, axis.texts.size());
    if (place < brush.from || place > brush.to) continue;
    parts << QString("%1=\"%2\"").arg(axis.title, axis.texts[i]);
  }
  return parts.isEmpty() ? QString() : "(" + parts.join(" or ") + ")";
}

}  // namespace

std::optional<double> ParallelAxis::place(const RunColumns& columns, const RunSummary& run) const {
  if (is_text()) {
    const auto found = std::lower_bound(texts.begin(), texts.end(), columns.raw_text(run, column));
    if (found == texts.end()) return std::nullopt;
    return text_place(static_cast<std::size_t>(found - texts.begin()), texts.size());
  }
  const auto value = columns.number(run, column);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return logarithmic ? std::log(*value / low) / std::log(high / low)
                     : (*value - low) / (high - low);
}

double ParallelAxis::value_at(double place) const {
  // The ends exactly: a run that stands there is inside.
  if (place <= 0) return low;
  if (place >= 1) return high;
  return logarithmic ? low * std::pow(high / low, place) : low + place * (high - low);
}

std::vector<ParallelAxis> varying_axes(const RunView& view) {
  std::vector<ParallelAxis> axes;
  for (const Column column : candidates(view.columns())) {
    if (axes.size() == kMostAxes) break;
    ParallelAxis axis;
    axis.column = column;
    axis.title = view.columns().title(column);
    axis.quantity = view.columns().quantity(column);
    const bool number = view.columns().is_number(column);
    if (number ? read_numbers(view, axis) : read_texts(view, axis)) axes.push_back(std::move(axis));
  }
  return axes;
}

QString words_as_filter(const QString& words) {
  QStringList parts;
  for (const QString& word : words.split(' ', Qt::SkipEmptyParts)) {
    QStringList columns;
    for (const char* column : {"Name", "Method", "Executor", "Model", "Status", "Tags"}) {
      columns << QString("%1~\"%2\"").arg(column, word);
    }
    parts << "(" + columns.join(" or ") + ")";
  }
  return parts.join(" and ");
}

QString filter_of(const std::vector<ParallelAxis>& axes, const Brushes& brushes) {
  QStringList parts;
  for (const ParallelAxis& axis : axes) {
    const auto brush = brushes.find(axis.column);
    if (brush == brushes.end()) continue;
    const QString part = part_of(axis, brush->second);
    if (!part.isEmpty()) parts << part;
  }
  return parts.join(" and ");
}

}  // namespace gradwire::gui
