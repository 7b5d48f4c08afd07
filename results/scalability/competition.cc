#include "results/scalability/competition.h"

#include <algorithm>

namespace gradwire::results {
namespace {

Baseline baseline_of(const ScaleSeries& series) {
  return results::baseline_of(method_of_scenario(series.header.scenario_json));
}

bool any_of_kind(const Scalability& all, bool baseline, bool holding) {
  for (std::size_t i = 0; i < all.data.series.size(); ++i)
    if ((all.holds(i) || !holding) &&
        (baseline_of(all.data.series[i]) != Baseline::kNone) == baseline)
      return true;
  return false;
}

std::vector<StepPoint> all_points(const Scalability& all) {
  std::vector<StepPoint> points;
  for (std::size_t i = 0; i < all.data.series.size(); ++i)
    for (const ScalePoint& point : all.data.series[i].points)
      if (all.holds(i) && point.step)
        points.push_back(
            {all.data.series[i].name, *point.step, point.seconds, point.relative_error});
  return points;
}

/// Each series' step at each number of workers; its name stands for the method, so that two ways of
/// exchanging one method stay apart.
std::vector<Candidate> candidates_of(const Scalability& all, const std::vector<int>& workers) {
  std::vector<Candidate> candidates;
  for (const int n : workers)
    for (std::size_t i = 0; i < all.data.series.size(); ++i) {
      if (!all.holds(i, n)) continue;
      Candidate candidate;
      candidate.method = all.data.series[i].name;
      candidate.baseline = baseline_of(all.data.series[i]);
      candidate.step = all.predicted(i, n).step;
      candidates.push_back(std::move(candidate));
    }
  return candidates;
}

std::size_t series_named(const Scalability& all, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(all.data.series, name, &ScaleSeries::name) -
                                  all.data.series.begin());
}

/// Numbers of workers on which every model that holds at all holds.
std::vector<int> common_workers(const Scalability& all, std::size_t first) {
  std::vector<int> common;
  for (const int n : shown_workers(all, first)) {
    bool on_all = n >= 2;
    for (std::size_t i = 0; i < all.data.series.size(); ++i)
      on_all = on_all && all.holds(i) == all.holds(i, n);
    if (on_all) common.push_back(n);
  }
  return common;
}

std::string misfit_words(const Scalability& all, const StepFit& fit) {
  for (std::size_t i = 0; i < all.data.series.size(); ++i)
    for (const ScalePoint& point : all.data.series[i].points)
      if (all.holds(i) && point.step &&
          outside_band(point, predict_step(fit, *point.step), kMisfit) > kTie)
        return "one fit to the runs of all series misses those of " + all.data.series[i].name +
               " on " + std::to_string(point.workers) + " workers, beyond its 90 % band or " +
               percent(kMisfit);
  return "";
}

std::string no_competition_words(const Scalability& all) {
  if (!all.comparable)
    return "the series differ in more than method and exchange, so they do not compete over one "
           "link rate";
  if (!any_of_kind(all, true, false))
    return "no series sends plain fp32 or fp16, against which compression would have to pay";
  if (!any_of_kind(all, false, false)) return "no series compresses";
  if (!any_of_kind(all, true, true) || !any_of_kind(all, false, true))
    return "no model holds of those that compress, or of fp32 and fp16";
  return "";
}

}  // namespace

std::optional<Competition> competition_of(const Scalability& all, std::string& reason) {
  reason = no_competition_words(all);
  if (!reason.empty()) return std::nullopt;
  Competition competition;
  competition.fit = fit_steps(all_points(all));
  reason = misfit_words(all, competition.fit);
  if (!reason.empty()) return std::nullopt;
  std::size_t first = 0;
  while (!all.holds(first)) ++first;
  competition.workers = common_workers(all, first);
  const std::vector<Candidate> candidates = candidates_of(all, competition.workers);
  competition.crossings = crossovers(candidates, competition.fit.constants, {.margin = kTie});
  competition.rate = all.model(first)->known[0].step.bandwidth;
  return competition;
}

NamedFigure crossover_figure(const Scalability& all, const Competition& competition) {
  NamedFigure named{"crossover", {{}, kFigureWidth + 80, 360}};
  Figure& figure = named.drawn.figure;
  figure.title = "Link rate above which compressing no longer pays";
  figure.subtitle =
      "below its line a method's step is 3 % faster than fp32's and fp16's; no line: see the table";
  figure.legend = Legend::kBottom;
  figure.x = {"workers",
              Quantity::kPlain,
              Scale::kLog2,
              static_cast<double>(competition.workers.front()) / 1.2,
              static_cast<double>(competition.workers.back()) * 1.2,
              {}};
  figure.y = {"rate of a worker's link", Quantity::kBitRate, Scale::kLog10};
  for (const Crossover& crossing : competition.crossings) {
    if (!crossing.rate || crossing.pays.size() > 1) continue;
    auto line = std::ranges::find(figure.series, crossing.method, &Series::name);
    if (line == figure.series.end()) {
      Series series;
      series.name = crossing.method;
      series.style = series_style(scale_color(all, series_named(all, crossing.method)), true);
      figure.series.push_back(std::move(series));
      line = figure.series.end() - 1;
    }
    line->x.push_back(crossing.workers);
    line->y.push_back(8 * *crossing.rate);
  }
  figure.y.low = std::min(extent(figure).y.low, 8 * competition.rate) / 3;
  figure.annotations.push_back(
      {Annotation::Kind::kHorizontal, 0, 8 * competition.rate,
       "these runs: " + format_value(8 * competition.rate, Quantity::kBitRate)});
  figure.provenance = "predicted, by one fit to all runs";
  return named;
}

HtmlTable crossover_table(const Competition& competition) {
  HtmlTable table = {{"workers"}};
  for (const int n : competition.workers) table[0].push_back(std::to_string(n));
  for (const Crossover& crossing : competition.crossings) {
    auto row = std::find_if(table.begin() + 1, table.end(),
                            [&](const auto& cells) { return cells[0] == crossing.method; });
    if (row == table.end()) row = table.insert(table.end(), {crossing.method});
    row->push_back(pays_words(crossing));
  }
  return table;
}

}  // namespace gradwire::results
