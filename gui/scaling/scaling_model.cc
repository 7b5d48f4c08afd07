#include "gui/scaling/scaling_model.h"

#include <algorithm>
#include <map>

#include "gui/charts/tradeoff_figure.h"
#include "results/scalability/figures.h"
#include "runner/prediction/scalability.h"

namespace gradwire::gui {

using results::RunId;
using results::Scalability;
using results::SeriesKind;

ScalingAnswer scaling_of(const results::Store& store, const ScalingQuestion& question) {
  ScalingAnswer answer;
  std::vector<std::string> remarks;
  try {
    results::ScalabilityOptions options;
    options.model.up_to = question.up_to;
    options.model.step_at = runner::step_at_size(remarks);
    answer.all = results::scalability_of(store, question.runs, std::move(options));
    // The figures ask for points of the curve alone, and `remarks` ends here.
    answer.all->options.model.step_at = nullptr;
    for (const std::string& warning : answer.all->warnings) {
      answer.remarks << QString::fromStdString(warning);
    }
  } catch (const std::exception& error) {
    // This runs at the top of a thread: an exception must end here, as a message.
    answer.problem = QString::fromUtf8(error.what());
  }
  for (const std::string& remark : remarks) answer.remarks << QString::fromStdString(remark);
  return answer;
}

namespace {

constexpr std::size_t kMostHashes = 8;

/// Of the scenarios that it was drawn from: an export names them.
void add_hashes(const Scalability& all, results::Figure& figure) {
  auto& hashes = figure.scenario_hashes;
  for (const results::RunSummary& run : all.data.runs) {
    const std::string& hash = run.header.scenario_hash;
    if (hashes.size() == kMostHashes) return;
    if (std::find(hashes.begin(), hashes.end(), hash) == hashes.end()) hashes.push_back(hash);
  }
}

}  // namespace

results::Figure scaling_figure(const ScalingAnswer& answer, ScalingKind kind) {
  const Scalability& all = *answer.all;
  const auto named = kind == ScalingKind::kThroughput   ? results::throughput_figure(all)
                     : kind == ScalingKind::kEfficiency ? results::efficiency_figure(all)
                                                        : results::step_time_figure(all);
  results::Figure figure = named.drawn.figure;
  add_hashes(all, figure);
  return figure;
}

std::optional<results::Figure> residual_strip(const ScalingAnswer& answer) {
  const auto& models = answer.all->models;
  if (std::none_of(models.begin(), models.end(), [](const auto& m) { return m.has_value(); })) {
    return std::nullopt;
  }
  results::Figure figure = results::residual_figure(*answer.all).drawn.figure;
  add_hashes(*answer.all, figure);
  return figure;
}

void colour_by_method(const ScalingAnswer& answer, const ColourOf& colour,
                      results::Figure& figure) {
  for (results::Series& drawn : figure.series) {
    results::Role& role = drawn.style.color;
    if (role.kind != results::Role::kSeries) continue;
    const auto& known = answer.all->data.series;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (results::scale_color(*answer.all, i) != role.series) continue;
      role.series = colour(known[i]);
      break;
    }
  }
}

std::optional<ScalingPlace> place_of(const ScalingAnswer& answer, const results::Figure& figure,
                                     std::size_t series, std::size_t point) {
  const auto& drawn = figure.series[series];
  const auto& known = answer.all->data.series;
  for (std::size_t i = 0; i < known.size(); ++i) {
    // Runs are the series with a name of theirs; lines and marks beyond them have none.
    if (drawn.name != known[i].name || point >= drawn.x.size()) continue;
    for (std::size_t k = 0; k < known[i].points.size(); ++k) {
      if (known[i].points[k].workers == static_cast<int>(drawn.x[point])) return ScalingPlace{i, k};
    }
  }
  return std::nullopt;
}

std::vector<RunId> runs_at(const ScalingAnswer& answer, const ScalingPlace& place) {
  return answer.all->data.series[place.series].points[place.point].runs;
}

QStringList scaling_card(const ScalingAnswer& answer, const ScalingPlace& place) {
  const Scalability& all = *answer.all;
  const results::ScaleSeries& series = all.data.series[place.series];
  const results::ScalePoint& point = series.points[place.point];
  const auto time = [](double seconds) { return quantity_text(seconds, Quantity::kDuration, {}); };
  QStringList lines{QString::fromStdString(series.name)};
  lines << QString("%1 workers · %2 runs, %3")
               .arg(point.workers)
               .arg(point.runs.size())
               .arg(QString::fromStdString(point.provenance));
  lines << "Step time: " + time(point.seconds);
  if (point.relative_error > 0) {
    lines << QString("90 % interval over %1: %2 to %3")
                 .arg(point.over_seeds ? "seeds" : "steps", time(point.low_s), time(point.high_s));
  }
  const double throughput = all.throughput(place.series, point.workers, point.seconds);
  lines << QString::fromStdString(all.throughput_text(throughput) + " " + all.throughput_unit());
  if (const results::SeriesModel* model = all.model(place.series)) {
    const auto& known = model->known[place.point];
    lines << QString("Model: %1 (%2)")
                 .arg(time(known.prediction.time.total_s),
                      QString::fromStdString(results::percent(model->errors[place.point], true)));
    if (known.alone_s > 0) {
      lines << "Scaling efficiency: " +
                   quantity_text(known.alone_s / point.seconds, Quantity::kShare, {});
    }
  }
  return lines;
}

std::vector<WorkloadRuns> shown_workloads(const RunView& view) {
  std::map<std::string, std::vector<RunId>> runs;
  for (int row = 0; row < view.rows(); ++row) {
    runs[workload_of(view.at(row))].push_back(view.at(row).id);
  }
  std::vector<WorkloadRuns> workloads;
  for (auto& [workload, ids] : runs) workloads.push_back({workload, std::move(ids)});
  std::stable_sort(workloads.begin(), workloads.end(),
                   [](const auto& a, const auto& b) { return a.runs.size() > b.runs.size(); });
  return workloads;
}

}  // namespace gradwire::gui
