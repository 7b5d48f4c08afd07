#include "gui/charts/run_card.h"

#include <algorithm>

namespace gradwire::gui {

using results::RunSummary;

namespace {
constexpr int kMostSwept = 10;
constexpr Column kCardFigures[] = {
    Column::kAccuracy,  Column::kSimulated,        Column::kTimeToTarget, Column::kStepTime,
    Column::kWireBytes, Column::kCompressionRatio, Column::kTrafficRatio};
}  // namespace

QStringList run_card(const RunView& view, const RunSummary& run, const std::vector<Column>& first,
                     NumberStyle style) {
  const RunColumns& columns = view.columns();
  QStringList lines{QString("Run %1 · %2").arg(run.id).arg(raw_text(run, Column::kName))};
  lines << raw_text(run, Column::kMethod) +
               QString(" · %1 workers · seed %2").arg(run.header.workers).arg(run.header.seed);
  std::vector<Column> shown = {Column::kRun,     Column::kName, Column::kMethod,
                               Column::kWorkers, Column::kSeed, Column::kStatus};
  const auto add = [&](Column column) {
    if (std::find(shown.begin(), shown.end(), column) != shown.end()) return;
    const QString text = columns.shown_text(run, column, style);
    if (text.isEmpty() || text == QStringLiteral("–")) return;
    lines << QString("%1: %2").arg(columns.title(column), text);
    shown.push_back(column);
  };
  for (const Column column : first) add(column);
  int swept = 0;
  for (int c = kColumns; c < columns.count() && swept < kMostSwept; ++c) {
    if (!columns.swept(column_at(c))->varied) continue;
    add(column_at(c));
    ++swept;
  }
  for (const Column column : kCardFigures) add(column);
  if (run.status != results::RunStatus::kFinished) {
    lines << QString("status: %1").arg(raw_text(run, Column::kStatus));
  }
  return lines;
}

}  // namespace gradwire::gui
