#pragma once
#include <map>
#include <string>
#include <vector>

#include "gui/charts/colour_classes.h"
#include "gui/models/database.h"
#include "gui/models/run_selection.h"
#include "gui/models/run_view.h"
#include "results/figures/figure.h"

/// Builds the chart of runs from those that the table shows, without a widget.
namespace gradwire::gui {

struct TradeoffOptions {
  Column x = Column::kSimulated;  ///< what one pays, or what was varied
  Column y = Column::kAccuracy;
  Column colour = Column::kMethod;
  bool log_x = false, log_y = false;
  bool front = true;  ///< draw the runs that no other run of their workload beats
  /// Only the runs of one class of `panels`; null: all.
  const RunClasses* panels = nullptr;
  std::size_t panel = 0;
};

struct TradeoffFigure {
  results::Figure figure;
  /// [series][point] -> run; empty for series that are no runs.
  std::vector<std::vector<results::RunId>> runs;
  std::size_t drawn = 0;      ///< runs with both values
  std::size_t without = 0;    ///< shown runs that lack one
  std::size_t workloads = 0;  ///< among those drawn: each has a front of its own
};

/// A smaller, or a larger value is what one wants; neither where it was chosen (workers).
enum class Better { kNeither, kLess, kMore };
Better better_of(Column column);
/// Whether a run can beat another on these axes.
bool has_front(Column x, Column y);

/// What was trained or exchanged: runs of two workloads are no alternatives.
std::string workload_of(const results::RunSummary& run);

/// y against x, one series a class of colour; the selected runs that are shown are ringed, and
/// their accuracy curves drawn where the axes are simulated time and accuracy.
TradeoffFigure tradeoff_figure(const RunView& view, const RunSelection& selection,
                               const std::map<results::RunId, CurvePtr>& curves,
                               const TradeoffOptions& options);

/// Axes that show something: accuracy against simulated time where runs have an accuracy, else step
/// time against what was varied.
TradeoffOptions usual_axes(const RunView& view);

}  // namespace gradwire::gui
