#pragma once
#include <map>
#include <vector>

#include "gui/models/columns.h"
#include "gui/models/database.h"
#include "gui/models/run_selection.h"
#include "gui/models/run_view.h"
#include "results/figure.h"

/// Builds the trade-off figure from the shown runs, without a widget.
namespace gradwire::gui {

struct TradeoffOptions {
  Column cost = Column::kSimulated;  ///< x: what one pays
  bool log_cost = false;
  bool front = true;  ///< draw the runs that no other run beats
};

struct TradeoffFigure {
  results::Figure figure;
  /// [series][point] -> run; empty for series that are no runs.
  std::vector<std::vector<results::RunId>> runs;
  std::size_t drawn = 0;    ///< runs with both values
  std::size_t without = 0;  ///< shown runs that lack one
};

/// Final accuracy against cost, one series per method (the most frequent seven and "other"); the
/// selected runs ringed and their accuracy curves drawn where x is simulated time.
TradeoffFigure tradeoff_figure(const RunView& view, const RunSelection& selection,
                               const std::map<results::RunId, CurvePtr>& curves,
                               const TradeoffOptions& options);

}  // namespace gradwire::gui
