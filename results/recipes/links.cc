#include <algorithm>
#include <iterator>

#include "results/recipes/recipe.h"
#include "results/report/links.h"

namespace gradwire::results {
namespace {

constexpr std::size_t kMostLinks = 5;  ///< of a run
constexpr std::size_t kMostLines = 8;  ///< of a figure

void add_line(const std::vector<LinkSeries>& links, const LinkLoad& load, const std::string& name,
              Figure& figure) {
  const auto link = std::ranges::find(links, load.name, &LinkSeries::name);
  Series line;
  line.kind = SeriesKind::kStep;
  line.name = name + ", " + load.name;
  line.style = series_style(static_cast<int>(figure.series.size()));
  for (const LinkSeries::Interval& interval : link->intervals) {
    line.x.push_back(interval.start_s);
    line.y.push_back(link->utilisation(interval));
  }
  figure.series.push_back(std::move(line));
}

Figure empty_figure(const std::string& workload) {
  Figure figure;
  figure.title = "The fullest link of each: " + workload;
  figure.subtitle = "bytes on the wire over what the nominal rate carries, by intervals of the run";
  figure.x = {"simulated time", Quantity::kSeconds};
  figure.y = {"utilisation", Quantity::kShare};
  figure.legend = Legend::kBottom;
  return figure;
}

std::string add_links(const RecipeRuns& runs, RecipeAnswer& answer) {
  DrawnFigure drawn{empty_figure(runs.workload), 720, 380, true};
  LinkLoad fullest;
  std::string fullest_of;
  for (const ReportGroup& group : runs.data.groups) {
    const RunId run = first_run(group);
    const std::vector<LinkSeries> links = runs.store.links(run);
    const std::string name = name_in_workload(runs.data, group);
    std::vector<LinkLoad> loads = link_loads(links);
    loads.resize(std::min(loads.size(), kMostLinks));
    for (const LinkLoad& load : loads) {
      auto& row = answer.table.rows.emplace_back(
          std::vector<DataValue>{runs.workload, name, static_cast<double>(run)});
      std::ranges::move(link_cells(run, load), std::back_inserter(row));
    }
    if (loads.empty()) continue;
    if (drawn.figure.series.size() < kMostLines) add_line(links, loads[0], name, drawn.figure);
    if (!fullest_of.empty() && loads[0].mean <= fullest.mean) continue;
    fullest = loads[0];
    fullest_of = name;
  }
  if (fullest_of.empty()) return "no run has stored what its links carried";
  answer.sentences.push_back(
      runs.workload + ": the fullest link is " + fullest.name + " with " + fullest_of + ", " +
      format_value(fullest.mean, Quantity::kShare) + " of " +
      format_value(fullest.rate_bps, Quantity::kBitRate) + " in the mean and " +
      format_value(fullest.peak, Quantity::kShare) + " at most" +
      (fullest.flows.empty() ? "." : "; it carries what goes " + fullest.flows + "."));
  drawn.figure.provenance = "time " + runs.data.groups.front().time_provenance;
  answer.figures.push_back(std::move(drawn));
  return "";
}

std::vector<DataColumn> columns_of_runs() {
  using Kind = DataColumn::Kind;
  std::vector<DataColumn> columns = {{"workload", "workload", Quantity::kPlain, Kind::kText},
                                     {"runs", "runs", Quantity::kPlain, Kind::kText},
                                     {"run", "run", Quantity::kCount}};
  std::ranges::move(link_columns(), std::back_inserter(columns));
  return columns;
}

}  // namespace

Recipe links_recipe() {
  return {
      "links",
      "Which links are full, and whose flows fill them?",
      "The five fullest directions of the first run of each group, the most congested first. "
      "Mean: bytes on the wire over what the nominal rate carries in the whole run. Busiest: "
      "the interval (of at most 240) with the most bytes. Full: the share of the time in "
      "intervals of 90 % or more. A peak above 100 %: what still stood in the queue when the "
      "run was cut short. The 64 busiest directions of a run are stored; whose flows: the hosts "
      "beyond the link, as far as those show.",
      "run again: links are stored of every run over flow, packet or emulator",
      columns_of_runs(),
      add_links};
}

}  // namespace gradwire::results
