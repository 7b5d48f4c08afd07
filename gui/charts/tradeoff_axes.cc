#include "gui/charts/tradeoff_axes.h"

#include <algorithm>
#include <set>

#include "gui/charts/tradeoff_figure.h"

namespace gradwire::gui {

using results::RunSummary;

namespace {

results::Quantity quantity_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::kDuration:
      return results::Quantity::kSeconds;
    case Quantity::kBytes:
      return results::Quantity::kBytes;
    case Quantity::kRate:
      return results::Quantity::kBitRate;
    case Quantity::kRatio:
    case Quantity::kShare:
      return results::Quantity::kShare;
    case Quantity::kCount:
      return results::Quantity::kCount;
    default:
      return results::Quantity::kPlain;
  }
}

std::string label_of(const RunView& view, Column column) {
  switch (column) {
    case Column::kSimulated:
      return "simulated time";
    case Column::kTimeToTarget:
      return "simulated time to the target accuracy";
    case Column::kStepTime:
      return "simulated time of a step";
    case Column::kWireBytes:
      return "bytes on the wire";
    case Column::kCompressionRatio:
      return "encoded gradients as a share of fp32";
    case Column::kTrafficRatio:
      return "bytes on the wire as a share of fp32";
    default:
      return view.columns().title(column).toLower().toStdString();
  }
}

}  // namespace

RunAxis::RunAxis(const RunView& view, Column column, bool logarithmic)
    : columns_(view.columns()), column_(column) {
  axis_.label = label_of(view, column);
  axis_.quantity = quantity_of(columns_.quantity(column));
  if (columns_.is_number(column)) {
    const bool doublings = columns_.quantity(column) == Quantity::kCount;
    if (logarithmic) axis_.scale = doublings ? results::Scale::kLog2 : results::Scale::kLog10;
    return;
  }
  std::set<QString> texts;
  for (const RunSummary& run : view.all()) texts.insert(columns_.raw_text(run, column));
  texts_.assign(texts.begin(), texts.end());
  for (const QString& text : texts_) {
    axis_.categories.push_back(text.isEmpty() ? "none" : text.toStdString());
  }
}

std::optional<double> RunAxis::of(const RunSummary& run) const {
  if (!columns_.is_number(column_)) {
    const QString text = columns_.raw_text(run, column_);
    return static_cast<double>(std::lower_bound(texts_.begin(), texts_.end(), text) -
                               texts_.begin());
  }
  const auto value = columns_.number(run, column_);
  return value && results::drawable(*value, axis_.scale) ? value : std::nullopt;
}

Better better_of(Column column) {
  switch (column) {
    case Column::kAccuracy:
      return Better::kMore;
    case Column::kLoss:
    case Column::kStepTime:
    case Column::kCompressionRatio:
    case Column::kTrafficRatio:
    case Column::kWireBytes:
    case Column::kSimulated:
    case Column::kTimeToTarget:
      return Better::kLess;
    default:
      return Better::kNeither;
  }
}

bool has_front(Column x, Column y) {
  return x != y && better_of(x) != Better::kNeither && better_of(y) != Better::kNeither;
}

TradeoffOptions usual_axes(const RunView& view) {
  TradeoffOptions options;
  const auto& runs = view.all();
  if (runs.empty() || std::any_of(runs.begin(), runs.end(), [](const RunSummary& run) {
        return run.final_accuracy.has_value();
      })) {
    return options;
  }
  options.y = Column::kStepTime;
  options.x = Column::kWorkers;
  options.log_x = options.log_y = true;
  const bool sizes = std::any_of(runs.begin(), runs.end(), [&](const RunSummary& run) {
    return run.header.workers != runs.front().header.workers;
  });
  for (int c = kColumns; !sizes && c < view.columns().count(); ++c) {
    const SweptColumn* swept = view.columns().swept(column_at(c));
    if (!swept->varied || swept->numbers.empty()) continue;
    options.x = column_at(c);
    break;
  }
  return options;
}

}  // namespace gradwire::gui
