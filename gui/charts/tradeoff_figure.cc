#include "gui/charts/tradeoff_figure.h"

#include <algorithm>
#include <unordered_map>

namespace gradwire::gui {

using results::RunId;
using results::RunSummary;
using results::Series;
using results::SeriesKind;

namespace {

constexpr int kMethods = 7;
/// A picture of thousands of scenarios names the first few.
constexpr std::size_t kMostHashes = 8;

results::Quantity quantity_of(Column column) {
  switch (info(column).quantity) {
    case Quantity::kDuration:
      return results::Quantity::kSeconds;
    case Quantity::kBytes:
      return results::Quantity::kBytes;
    case Quantity::kRatio:
      return results::Quantity::kShare;
    default:
      return results::Quantity::kPlain;
  }
}

const char* label_of(Column column) {
  switch (column) {
    case Column::kSimulated:
      return "simulated time";
    case Column::kTimeToTarget:
      return "simulated time to the target accuracy";
    case Column::kStepTime:
      return "simulated time of a step";
    case Column::kWireBytes:
      return "bytes on the wire";
    case Column::kCompressionRatio:
      return "encoded gradients as a share of fp32";
    case Column::kTrafficRatio:
      return "bytes on the wire as a share of fp32";
    default:
      return info(column).title;
  }
}

/// Series number of each method: by name among the most frequent, the rest together as the last,
/// so that a method keeps its colour when the selection changes.
std::map<std::string, int> methods_of(const RunView& view) {
  std::map<std::string, int> count;
  if (view.runs()) {
    for (const RunSummary& run : *view.runs()) ++count[run.header.method];
  }
  std::vector<std::pair<int, std::string>> frequent;
  for (const auto& [method, runs] : count) frequent.emplace_back(-runs, method);
  std::sort(frequent.begin(), frequent.end());
  if (frequent.size() > kMethods + 1) frequent.resize(kMethods);
  std::vector<std::string> names;
  for (const auto& [runs, method] : frequent) names.push_back(method);
  std::sort(names.begin(), names.end());
  std::map<std::string, int> series;
  for (const auto& [method, runs] : count) {
    const auto it = std::find(names.begin(), names.end(), method);
    series[method] = it == names.end() ? kMethods : static_cast<int>(it - names.begin());
  }
  return series;
}

void add(TradeoffFigure& figure, Series series, std::vector<RunId> runs) {
  if (series.x.empty()) return;
  figure.figure.series.push_back(std::move(series));
  figure.runs.push_back(std::move(runs));
}

struct Point {
  double x, y;
};

std::optional<Point> point_of(const RunSummary& run, const TradeoffOptions& options) {
  const auto cost = number(run, options.cost);
  if (!cost || !run.final_accuracy) return std::nullopt;
  const auto scale = options.log_cost ? results::Scale::kLog10 : results::Scale::kLinear;
  if (!results::drawable(*cost, scale) ||
      !results::drawable(*run.final_accuracy, results::Scale::kLinear)) {
    return std::nullopt;
  }
  return Point{*cost, *run.final_accuracy};
}

void add_scatter(TradeoffFigure& result, const RunView& view, const RunSelection& selection,
                 const std::map<std::string, int>& methods, const TradeoffOptions& options) {
  std::vector<Series> series(kMethods + 1);
  std::vector<std::vector<RunId>> runs(kMethods + 1);
  for (int row = 0; row < view.rows(); ++row) {
    const RunSummary& run = view.at(row);
    const auto point = point_of(run, options);
    if (!point) {
      ++result.without;
      continue;
    }
    const auto which = static_cast<std::size_t>(methods.at(run.header.method));
    series[which].name = which == kMethods ? "other methods" : run.header.method;
    series[which].x.push_back(point->x);
    series[which].y.push_back(point->y);
    runs[which].push_back(run.id);
    ++result.drawn;
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i].kind = SeriesKind::kScatter;
    series[i].style = results::series_style(static_cast<int>(i), true);
    series[i].style.dash = results::Dash::kSolid;
    series[i].style.opacity = selection.runs().empty() ? 0.85 : 0.4;
    add(result, std::move(series[i]), std::move(runs[i]));
  }
}

void add_front(TradeoffFigure& result) {
  std::vector<double> cost, gain;
  for (const Series& series : result.figure.series) {
    cost.insert(cost.end(), series.x.begin(), series.x.end());
    gain.insert(gain.end(), series.y.begin(), series.y.end());
  }
  Series front;
  front.kind = SeriesKind::kStep;
  front.name = "not beaten (Pareto front)";
  front.style = {{results::Role::kMuted}, results::Mark::kNone, results::Dash::kDashed, 1.25};
  for (std::size_t i : results::pareto_front(cost, gain)) {
    front.x.push_back(cost[i]);
    front.y.push_back(gain[i]);
  }
  if (front.x.size() > 1) add(result, std::move(front), {});
}

void add_curves(TradeoffFigure& result, const RunView& view, const RunSelection& selection,
                const std::map<RunId, CurvePtr>& curves,
                const std::map<std::string, int>& methods) {
  for (RunId id : selection.runs()) {
    const auto curve = curves.find(id);
    const RunSummary* run = view.find(id);
    if (curve == curves.end() || !run) continue;
    Series series;
    series.style = results::series_style(methods.at(run->header.method));
    for (const auto& [time, accuracy] : curve->second->points) {
      series.x.push_back(time);
      series.y.push_back(accuracy);
    }
    std::vector<RunId> runs(series.x.size(), id);
    add(result, std::move(series), std::move(runs));
  }
}

void add_rings(TradeoffFigure& result, const RunView& view, const RunSelection& selection,
               const TradeoffOptions& options) {
  Series rings;
  rings.kind = SeriesKind::kScatter;
  rings.name = "selected";
  rings.style = {{results::Role::kInk}, results::Mark::kRing};
  rings.style.mark_size = 13;
  std::vector<RunId> runs;
  for (RunId id : selection.runs()) {
    const RunSummary* run = view.row_of(id) >= 0 ? view.find(id) : nullptr;
    const auto point = run ? point_of(*run, options) : std::nullopt;
    if (!point) continue;
    rings.x.push_back(point->x);
    rings.y.push_back(point->y);
    runs.push_back(id);
  }
  add(result, std::move(rings), std::move(runs));
}

}  // namespace

TradeoffFigure tradeoff_figure(const RunView& view, const RunSelection& selection,
                               const std::map<RunId, CurvePtr>& curves,
                               const TradeoffOptions& options) {
  TradeoffFigure result;
  results::Figure& figure = result.figure;
  figure.title = "Accuracy against " + std::string(label_of(options.cost));
  figure.x.label = label_of(options.cost);
  figure.x.quantity = quantity_of(options.cost);
  figure.x.scale = options.log_cost ? results::Scale::kLog10 : results::Scale::kLinear;
  figure.y.label = "accuracy";
  figure.y.quantity = results::Quantity::kShare;
  figure.subtitle = std::to_string(view.rows()) + " runs";
  for (int row = 0; row < view.rows() && figure.scenario_hashes.size() < kMostHashes; ++row) {
    const std::string& hash = view.at(row).header.scenario_hash;
    auto& hashes = figure.scenario_hashes;
    if (std::find(hashes.begin(), hashes.end(), hash) == hashes.end()) hashes.push_back(hash);
  }
  const auto methods = methods_of(view);
  add_scatter(result, view, selection, methods, options);
  if (options.front) add_front(result);
  if (options.cost == Column::kSimulated) add_curves(result, view, selection, curves, methods);
  add_rings(result, view, selection, options);
  return result;
}

}  // namespace gradwire::gui
