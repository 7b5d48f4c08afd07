#include "gui/charts/tradeoff_figure.h"

#include <algorithm>

#include "gui/charts/tradeoff_axes.h"

namespace gradwire::gui {

using results::RunId;
using results::RunSummary;
using results::Series;
using results::SeriesKind;

namespace {

/// A picture of thousands of scenarios names the first few.
constexpr std::size_t kMostScenarios = 8;
/// More workloads' fronts are drawn, but not named.
constexpr std::size_t kMostNamed = 4;

struct Drawn {
  RunId run;
  double x, y;
  std::size_t colour;
  std::string workload;
};

void add(TradeoffFigure& figure, Series series, std::vector<RunId> runs) {
  figure.figure.series.push_back(std::move(series));
  figure.runs.push_back(std::move(runs));
}

/// The shown runs with both values; counts those without.
std::vector<Drawn> drawn_runs(const RunView& view, const RunAxis& x, const RunAxis& y,
                              const RunClasses& colours, const TradeoffOptions& options,
                              TradeoffFigure& result) {
  std::vector<Drawn> drawn;
  for (int row = 0; row < view.rows(); ++row) {
    const RunSummary& run = view.at(row);
    if (options.panels && options.panels->of(run) != options.panel) continue;
    const auto at_x = x.of(run), at_y = y.of(run);
    if (at_x && at_y) {
      drawn.push_back({run.id, *at_x, *at_y, colours.of(run), workload_of(run)});
    } else {
      ++result.without;
    }
  }
  result.drawn = drawn.size();
  return drawn;
}

void add_scatter(TradeoffFigure& result, const std::vector<Drawn>& drawn, const RunClasses& colours,
                 bool faded, bool panels) {
  std::vector<Series> series(colours.names().size());
  std::vector<std::vector<RunId>> runs(series.size());
  for (const Drawn& run : drawn) {
    series[run.colour].x.push_back(run.x);
    series[run.colour].y.push_back(run.y);
    runs[run.colour].push_back(run.run);
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    // Panels side by side have one legend: with the classes that this one does not show.
    if (series[i].x.empty() && !panels) continue;
    series[i].kind = SeriesKind::kScatter;
    series[i].name = colours.names()[i];
    series[i].style = results::series_style(colours.number_of(i), true);
    series[i].style.dash = results::Dash::kSolid;
    series[i].style.opacity = faded ? 0.55 : 0.85;
    add(result, std::move(series[i]), std::move(runs[i]));
  }
}

/// Coordinates as pareto_front() takes them: a small x, a large y.
double towards(double value, Better better, Better wanted) {
  return better == wanted ? value : -value;
}

void add_front(TradeoffFigure& result, const std::vector<Drawn>& drawn, const std::string& workload,
               bool named, int number, const TradeoffOptions& options) {
  std::vector<double> xs, ys, cost, gain;
  for (const Drawn& run : drawn) {
    if (run.workload != workload) continue;
    xs.push_back(run.x);
    ys.push_back(run.y);
    cost.push_back(towards(run.x, better_of(options.x), Better::kLess));
    gain.push_back(towards(run.y, better_of(options.y), Better::kMore));
  }
  Series front;
  front.kind = SeriesKind::kStep;
  front.style = {{results::Role::kMuted},
                 results::Mark::kNone,
                 static_cast<results::Dash>(1 + number % 3),
                 1.25};
  if (named) front.name = "not beaten (Pareto front)";
  if (named && result.workloads > 1) front.name = "not beaten: " + workload;
  std::vector<std::size_t> order = results::pareto_front(cost, gain);
  // A step runs to the right: where x is better large, the front begins at its other end.
  if (better_of(options.x) == Better::kMore) std::reverse(order.begin(), order.end());
  for (const std::size_t i : order) {
    front.x.push_back(xs[i]);
    front.y.push_back(ys[i]);
  }
  if (front.x.size() > 1) add(result, std::move(front), {});
}

void add_fronts(TradeoffFigure& result, const std::vector<Drawn>& drawn,
                const TradeoffOptions& options) {
  std::map<std::string, int> workloads;
  for (const Drawn& run : drawn) ++workloads[run.workload];
  result.workloads = workloads.size();
  if (!options.front || !has_front(options.x, options.y)) return;
  int number = 0;
  for (const auto& [workload, runs] : workloads) {
    add_front(result, drawn, workload, static_cast<std::size_t>(number) < kMostNamed, number,
              options);
    ++number;
  }
}

/// Selected runs that the table shows: a hidden one is neither drawn nor dims the others.
std::vector<const Drawn*> selected(const RunSelection& selection, const std::vector<Drawn>& drawn) {
  std::vector<const Drawn*> chosen;
  for (const Drawn& run : drawn) {
    if (selection.contains(run.run)) chosen.push_back(&run);
  }
  return chosen;
}

void add_curves(TradeoffFigure& result, const std::vector<const Drawn*>& chosen,
                const RunClasses& colours, const std::map<RunId, CurvePtr>& curves) {
  for (const Drawn* run : chosen) {
    const auto curve = curves.find(run->run);
    if (curve == curves.end() || curve->second->points.empty()) continue;
    Series series;
    series.style = results::series_style(colours.number_of(run->colour));
    for (const auto& [time, accuracy] : curve->second->points) {
      series.x.push_back(time);
      series.y.push_back(accuracy);
    }
    std::vector<RunId> runs(series.x.size(), run->run);
    add(result, std::move(series), std::move(runs));
  }
}

void add_rings(TradeoffFigure& result, const std::vector<const Drawn*>& chosen) {
  if (chosen.empty()) return;
  Series rings;
  rings.kind = SeriesKind::kScatter;
  rings.name = "selected";
  rings.style = {{results::Role::kInk}, results::Mark::kRing};
  rings.style.mark_size = 13;
  std::vector<RunId> runs;
  for (const Drawn* run : chosen) {
    rings.x.push_back(run->x);
    rings.y.push_back(run->y);
    runs.push_back(run->run);
  }
  add(result, std::move(rings), std::move(runs));
}

void add_origin(const RunView& view, results::Figure& figure) {
  for (int row = 0; row < view.rows() && figure.scenario_hashes.size() < kMostScenarios; ++row) {
    const std::string& hash = view.at(row).header.scenario_hash;
    auto& hashes = figure.scenario_hashes;
    if (std::find(hashes.begin(), hashes.end(), hash) == hashes.end()) hashes.push_back(hash);
  }
}

}  // namespace

std::string workload_of(const RunSummary& run) {
  std::string workload = run.header.model.empty() ? run.header.scenario_name : run.header.model;
  if (!run.header.data_set.empty()) workload += " on " + run.header.data_set;
  return workload;
}

TradeoffFigure tradeoff_figure(const RunView& view, const RunSelection& selection,
                               const std::map<RunId, CurvePtr>& curves,
                               const TradeoffOptions& options) {
  TradeoffFigure result;
  results::Figure& figure = result.figure;
  const RunAxis x(view, options.x, options.log_x), y(view, options.y, options.log_y);
  const RunClasses colours(view, options.colour, kMethodColours);
  figure.x = x.axis();
  figure.y = y.axis();
  figure.title = y.axis().label + " against " + x.axis().label;
  figure.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(figure.title[0])));
  if (options.panels) figure.title = options.panels->names()[options.panel];
  add_origin(view, figure);
  const std::vector<Drawn> drawn = drawn_runs(view, x, y, colours, options, result);
  figure.subtitle = std::to_string(drawn.size()) + " runs";
  const std::vector<const Drawn*> chosen = selected(selection, drawn);
  add_scatter(result, drawn, colours, !chosen.empty(), options.panels != nullptr);
  add_fronts(result, drawn, options);
  if (options.x == Column::kSimulated && options.y == Column::kAccuracy) {
    add_curves(result, chosen, colours, curves);
  }
  add_rings(result, chosen);
  return result;
}

}  // namespace gradwire::gui
