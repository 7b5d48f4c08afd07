#pragma once
#include <QString>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "gui/models/columns.h"
#include "results/store/store.h"

/// What the window shows of a database: its runs, and the fields of their scenarios that differ.
/// Made on the database's thread and never changed, so that no scenario is read while one types.
namespace gradwire::gui {

/// A field of scenarios in which runs of the database differ: a column of the run table by itself.
struct SweptColumn {
  std::string pointer;  ///< "/network/link/bandwidth"
  QString title;        ///< "Bandwidth"; no two columns have the same
  QString help;         ///< of the table of fields
  Quantity quantity = Quantity::kText;
  /// Two runs have it with different values; else some runs merely lack it.
  bool varied = false;
  std::vector<QString> texts;   ///< [scenarios] canonical, as a filter compares it; empty = absent
  std::vector<double> numbers;  ///< [scenarios] base units, NaN where absent; empty for texts
};

struct RunSet {
  std::vector<results::RunSummary> runs;
  std::vector<std::size_t> scenario_of;                     ///< [runs]
  std::unordered_map<results::RunId, std::uint32_t> index;  ///< of a run among `runs`
  std::vector<SweptColumn> swept;                           ///< varied ones first
  /// What all scenarios have in common, by pointer: a filter may name it as well.
  std::map<std::string, std::string> alike;
  /// [runs] number and texts in lower case, a line a column: what words are looked for in.
  std::vector<QString> texts;
};
using Snapshot = std::shared_ptr<const RunSet>;

Snapshot make_run_set(std::vector<results::RunSummary> runs);

/// "1Gbps" -> "1 Gbps", "50us" -> "50 µs"; other texts as they are.
QString spaced_unit(const QString& text);

}  // namespace gradwire::gui
