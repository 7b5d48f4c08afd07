#include "results/scalability/models.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "results/prediction/solve.h"

namespace gradwire::results {
namespace {

/// The summary of the point whose number of workers is nearest (in doublings).
const StepSummary* nearest_step(const ScaleSeries& series, int workers) {
  const StepSummary* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const ScalePoint& point : series.points) {
    const double far = std::abs(std::log2(static_cast<double>(workers) / point.workers));
    if (!point.step || far >= least) continue;
    nearest = &*point.step;
    least = far;
  }
  return nearest;
}

StepSummary step_on(const ScaleSeries& series, const ModelOptions& options, int workers) {
  const StepSummary& nearest = *nearest_step(series, workers);
  if (nearest.workers == workers) return nearest;
  if (options.step_at) return options.step_at(series, nearest, workers);
  StepSummary step = nearest;
  step.workers = workers;
  return step;
}

CurvePoint predicted(const StepFit& fit, StepSummary step) {
  CurvePoint point;
  point.prediction = predict_step(fit, step);
  point.alone_s = efficiency(fit, step) * point.prediction.time.total_s;
  StepSummary alike = step;
  alike.compute_spread = 0;
  alike.slowest = 1;
  point.wait_s =
      std::max(0.0, point.prediction.time.compute_s - step_time(alike, fit.constants).compute_s);
  point.step = std::move(step);
  return point;
}

std::vector<StepPoint> fit_points(const ScaleSeries& series, std::size_t count) {
  std::vector<StepPoint> points;
  for (const ScalePoint& point : series.points) {
    if (points.size() == count) break;
    if (point.step)
      points.push_back({series.name + " on " + std::to_string(point.workers) + " workers",
                        *point.step, point.seconds, point.relative_error,
                        provenance_of(point.provenance)});
  }
  return points;
}

/// The step's figures as certain: a run that is held back rests on the same ones.
StepSummary without_assumed(StepSummary step) {
  step.assumed = {};
  return step;
}

Validation validate(const ScaleSeries& series) {
  Validation validation;
  std::vector<const ScalePoint*> points;
  for (const ScalePoint& point : series.points)
    if (point.step) points.push_back(&point);
  const int held = held_back_of(static_cast<int>(points.size()));
  if (held == 0) return validation;
  const std::size_t kept = points.size() - static_cast<std::size_t>(held);
  const StepFit fit = fit_steps(fit_points(series, kept));
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i < kept)
      validation.fitted.push_back(points[i]->workers);
    else
      validation.held.push_back({points[i]->workers, points[i]->seconds,
                                 predict_step(fit, without_assumed(*points[i]->step))});
  return validation;
}

/// 2, 3, 4, 6, 8, 12, ... and the points' own numbers, from the least point to `up_to`.
std::set<int> grid(const ScaleSeries& series, const ModelOptions& options) {
  const int least = series.points.front().workers;
  const int most = std::max(series.most_workers(),
                            options.up_to > 0 ? options.up_to : kBeyond * series.most_workers());
  std::set<int> workers = {most};
  for (const ScalePoint& point : series.points) workers.insert(point.workers);
  for (int n = 2; n <= most; n *= 2)
    for (const int between : {n, n + n / 2})
      if (between >= least && between <= most) workers.insert(between);
  return workers;
}

}  // namespace

int held_back_of(int counts) {
  return counts < 2 ? 0 : std::min(counts - 1, (counts + 2) / 3);
}

CurvePoint curve_point(const ScaleSeries& series, const StepFit& fit, const ModelOptions& options,
                       int workers) {
  return predicted(fit, step_on(series, options, workers));
}

std::optional<SeriesModel> model_of(const ScaleSeries& series, const ModelOptions& options) {
  const std::vector<StepPoint> points = fit_points(series, series.points.size());
  if (points.empty()) return std::nullopt;
  SeriesModel model;
  model.fit = fit_steps(points);
  for (const Constant& constant : model.fit.described)
    if (!constant.identified) model.open.push_back(constant.name);
  for (const ScalePoint& point : series.points) {
    model.known.push_back(curve_point(series, model.fit, options, point.workers));
    model.errors.push_back(model.known.back().prediction.time.total_s / point.seconds - 1);
  }
  for (const int workers : grid(series, options))
    model.curve.push_back(curve_point(series, model.fit, options, workers));
  model.validation = validate(series);
  return model;
}

}  // namespace gradwire::results
