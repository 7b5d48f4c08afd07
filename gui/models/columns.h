#pragma once
#include <QString>
#include <optional>
#include <span>

#include "results/store/store.h"

/// The columns of the run table: what a run shows, sorts by, and copies. One row of one table per
/// column; nothing else in the program knows how a figure is written.
namespace gradwire::gui {

enum class Column {
  kRun,
  kName,
  kMethod,
  kExecutor,
  kModel,
  kWorkers,
  kSeed,
  kStatus,
  kSteps,
  kAccuracy,
  kLoss,
  kStepTime,
  kCompressionRatio,
  kTrafficRatio,
  kWireBytes,
  kSimulated,
  kTimeToTarget,
  kStarted,
  kTags,
};
inline constexpr int kColumns = static_cast<int>(Column::kTags) + 1;

/// How a value is written: unit, digits, and whether a difference is a percentage or in points.
enum class Quantity {
  kText,
  kIdentifier,
  kCount,
  kShare,
  kRatio,
  kPlain,
  kDuration,
  kBytes,
  kRate
};

struct ColumnInfo {
  const char* key;    ///< name in filter expressions and exports, with its unit
  const char* title;  ///< header
  const char* help;   ///< tool tip: what exactly is counted
  Quantity quantity;
};

const ColumnInfo& info(Column column);
inline Column column_at(int index) {
  return static_cast<Column>(index);
}
bool is_number(Column column);
/// Where a number column's figures come from, in words; empty for what is no figure.
QString origin_text(Column column);

/// Sizes are written in bytes (MB) or bits (Mbit); everything else is unaffected.
struct NumberStyle {
  bool bits = false;
};

/// Raw value in base units (seconds, bytes, shares of one); none for text columns and absent
/// values.
std::optional<double> number(const results::RunSummary& run, Column column);
/// For text columns; empty for number columns.
QString raw_text(const results::RunSummary& run, Column column);
/// For people: three significant digits and a unit; an en dash where there is no value.
QString shown_text(const results::RunSummary& run, Column column, NumberStyle style);
/// For the clipboard: all digits, base unit, no unit text (the header names it); empty = absent.
QString full_text(const results::RunSummary& run, Column column);
/// Difference to a baseline: relative (percent) or, for shares, in percentage points; empty where
/// one of the values is absent or the difference means nothing (identifiers, seeds).
QString delta_text(const results::RunSummary& run, const results::RunSummary& baseline,
                   Column column);

QString quantity_text(double value, Quantity quantity, NumberStyle style);

}  // namespace gradwire::gui
