#pragma once
#include <QStringList>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/run_view.h"
#include "results/figures/figure.h"
#include "results/scalability/scalability.h"

/// How the shown runs scale: the figures of the scalability report (results/scalability), which say
/// what is a run, what the model, and what lies beyond the runs.
namespace gradwire::gui {

struct ScalingQuestion {
  std::vector<results::RunId> runs;
  int up_to = 0;  ///< workers; 0 = eight times the most of any run
};

struct ScalingAnswer {
  std::optional<results::Scalability> all;
  QStringList remarks;
  QString problem;  ///< why there is none
};

/// Reads the store and fits the model: seconds, for a thread of its own.
ScalingAnswer scaling_of(const results::Store& store, const ScalingQuestion& question);

enum class ScalingKind { kThroughput, kEfficiency, kStepTime };
inline constexpr std::pair<ScalingKind, const char*> kScalingKinds[] = {
    {ScalingKind::kThroughput, "Throughput"},
    {ScalingKind::kEfficiency, "Scaling efficiency"},
    {ScalingKind::kStepTime, "Time of a step"}};
results::Figure scaling_figure(const ScalingAnswer& answer, ScalingKind kind);
/// The model's error at the runs, over the same axis of workers; none without a model.
std::optional<results::Figure> residual_strip(const ScalingAnswer& answer);

/// A series' number of its colour, by its method, as the other charts have it.
using ColourOf = std::function<int(const results::ScaleSeries& series)>;
/// Gives lines, bands and marks of each series the colour of its method; marks keep telling series
/// of one method apart.
void colour_by_method(const ScalingAnswer& answer, const ColourOf& colour, results::Figure& figure);

/// The series and point of runs that a figure's point stands for; none for lines and bands.
struct ScalingPlace {
  std::size_t series = 0, point = 0;
};
std::optional<ScalingPlace> place_of(const ScalingAnswer& answer, const results::Figure& figure,
                                     std::size_t series, std::size_t point);
std::vector<results::RunId> runs_at(const ScalingAnswer& answer, const ScalingPlace& place);
QStringList scaling_card(const ScalingAnswer& answer, const ScalingPlace& place);

/// The shown runs by workload (workload_of), the one of most runs first.
struct WorkloadRuns {
  std::string workload;
  std::vector<results::RunId> runs;
};
std::vector<WorkloadRuns> shown_workloads(const RunView& view);

}  // namespace gradwire::gui
