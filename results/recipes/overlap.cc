#include <cmath>

#include "results/recipes/recipe.h"
#include "results/runs/exposed.h"

namespace gradwire::results {
namespace {

/// Of the first run's communication, the share beside which its worker computed or coded.
double hidden_share(const RecipeRuns& runs, const ReportGroup& group) {
  const TimeSplit split = split_of(runs.store.timeline(first_run(group)), header_of(group).workers);
  return split.network_s > 0 ? 1 - split.exposed_s / split.network_s : std::nan("");
}

std::string add_overlap(const RecipeRuns& runs, RecipeAnswer& answer) {
  const ReportGroup* worst = nullptr;
  double worst_share = -1, worst_hidden = 0;
  for (const ReportGroup& group : runs.data.groups) {
    const double step = group.group.step_time_s.mean, hidden = hidden_share(runs, group);
    if (std::isnan(hidden) || !(step > 0)) continue;
    const StepSplit& split = group.split;
    const double share = split.exposed_s / step;
    answer.table.rows.push_back({runs.workload, name_in_workload(runs.data, group), step,
                                 split.compute_s, split.codec_s, split.exposed_codec_s,
                                 split.exposed_s, split.idle_s, share, hidden});
    if (share <= worst_share) continue;
    worst = &group;
    worst_share = share;
    worst_hidden = hidden;
  }
  if (!worst) return "no run has a timeline with transfers";
  answer.sentences.push_back(
      runs.workload + ": most is exposed with " + name_in_workload(runs.data, *worst) + ", " +
      format_value(worst_share, Quantity::kShare) + " of a step; " +
      format_value(worst_hidden, Quantity::kShare) +
      " of the time in which transfers were under way is hidden behind a worker's own work.");
  for (const Section& section : runs.data.sections)
    for (DrawnFigure& drawn : section_figures(runs.data, section)) {
      if (!drawn.figure.title.starts_with("Where a step")) continue;
      drawn.figure.title += ": " + runs.workload;
      if (!section.label.empty()) drawn.figure.title += ", " + section.label;
      answer.figures.push_back(std::move(drawn));
    }
  return "";
}

}  // namespace

Recipe overlap_recipe() {
  using Kind = DataColumn::Kind;
  return {
      "overlap",
      "How much communication is hidden behind compute?",
      "Means over steps, workers and seeds. Exposed communication: a transfer was under way and "
      "the worker neither computed nor coded. Hidden: of the time in which transfers of the "
      "group's first run were under way, the share in which its worker did.",
      "run again: timelines are kept of the first steps of every run",
      {{"workload", "workload", Quantity::kPlain, Kind::kText},
       {"runs", "runs", Quantity::kPlain, Kind::kText},
       {"step_time_s", "step", Quantity::kSeconds},
       {"compute_s", "compute", Quantity::kSeconds},
       {"codec_s", "codec", Quantity::kSeconds},
       {"exposed_codec_s", "codec, not hidden", Quantity::kSeconds},
       {"exposed_s", "exposed communication", Quantity::kSeconds},
       {"idle_s", "idle", Quantity::kSeconds},
       {"exposed_share", "exposed", Quantity::kShare},
       {"hidden_share", "communication hidden", Quantity::kShare}},
      add_overlap};
}

}  // namespace gradwire::results
