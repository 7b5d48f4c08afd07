#include "results/scalability/models.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "results/advice/choice.h"
#include "results/prediction/assumed_spread.h"
#include "results/prediction/solve.h"
#include "results/scalability/scalability.h"

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

void add_efficiency_band(const StepFit& fit, CurvePoint& point) {
  if (point.alone_s <= 0) return;
  const AssumedSpread assumed = assumed_spread(
      point.step, [&](const StepSummary& moved) { return std::log(efficiency(fit, moved)); });
  const double total = point.prediction.time.total_s;
  const double up = std::log(total / point.prediction.model_low_s),
               down = std::log(point.prediction.model_high_s / total);
  point.efficiency_low = point.efficiency() * std::exp(-std::hypot(down, assumed.down));
  point.efficiency_high = std::min(1.0, point.efficiency() * std::exp(std::hypot(up, assumed.up)));
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

/// A point, and how far the model is off it.
struct Miss {
  int workers = 0;
  double outside = 0;        ///< outside_band()
  double error = 0;          ///< predicted / known - 1
  bool beyond_band = false;  ///< else of a band too wide to say anything
};

void take_worse(const ScalePoint& point, const StepPrediction& prediction, double widest,
                Miss& worst) {
  const double outside = outside_band(point, prediction, widest);
  if (outside > worst.outside)
    worst = {point.workers, outside, prediction.time.total_s / point.seconds - 1,
             outside_band(point, prediction) > kTie};
}

std::string miss_words(const Miss& miss) {
  return std::to_string(miss.workers) + " workers by " + percent(miss.error, true) +
         (miss.beyond_band ? ", beyond its 90 % band: " : ": ");
}

/// How far the model may be relied upon, and how much wider its band has to be. A miss that no
/// comparison of steps would count (kTie) only widens it.
void judge(const ScaleSeries& series, int up_to, SeriesModel& model) {
  Miss own, held;
  for (std::size_t i = 0; i < series.points.size(); ++i)
    take_worse(series.points[i], model.known[i].prediction, kMisfit, own);
  for (const HeldBack& one : model.validation.held)
    take_worse(*std::ranges::find(series.points, one.workers, &ScalePoint::workers), one.prediction,
               kNoLimit, held);
  model.holds_to = up_to;
  if (held.outside > kTie) {
    model.holds_to = series.most_workers();
    model.limit = "fitted to the runs on fewer workers, the model misses those on " +
                  miss_words(held) + "nothing is said beyond the runs";
  }
  if (own.outside > kTie) {
    model.holds_to = 0;
    model.limit = "the model misses its own runs on " + miss_words(own) +
                  "nothing is concluded from it, and only runs are shown";
  }
  for (const Miss& miss : {own, held})
    if (miss.outside <= kTie) model.widened = std::max(model.widened, miss.outside);
}

/// The curve up to where it holds. Each worker keeps its work: with more workers no step becomes
/// shorter, but by what a form cannot describe.
void draw(const ScaleSeries& series, const std::set<int>& grid, const ModelOptions& options,
          SeriesModel& model) {
  double longest = series.points.back().low_s;
  for (const int workers : grid) {
    if (workers > model.holds_to) return;
    CurvePoint point = curve_point(series, model, options, workers);
    const double seconds = point.prediction.time.total_s;
    if (workers > series.most_workers() && seconds * (1 + kTie) < longest) {
      model.holds_to = model.curve.back().workers();
      model.limit = "beyond " + std::to_string(model.holds_to) +
                    " workers the model's steps are shorter than on fewer: "
                    "nothing is said there";
      return;
    }
    if (workers > series.most_workers()) longest = std::max(longest, seconds);
    model.curve.push_back(std::move(point));
  }
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

double outside_band(const ScalePoint& point, const StepPrediction& prediction, double widest) {
  const double middle = prediction.time.total_s;
  const double low = std::max(prediction.model_low_s, middle * std::exp(-widest)),
               high = std::min(prediction.model_high_s, middle * std::exp(widest));
  return std::max({0.0, std::log(point.low_s / high), std::log(low / point.high_s)});
}

int held_back_of(int counts) {
  return counts < 2 ? 0 : std::min(counts - 1, (counts + 2) / 3);
}

CurvePoint curve_point(const ScaleSeries& series, const SeriesModel& model,
                       const ModelOptions& options, int workers) {
  CurvePoint point = predicted(model.fit, step_on(series, options, workers));
  StepPrediction& its = point.prediction;
  for (double* low : {&its.low_s, &its.model_low_s}) *low *= std::exp(-model.widened);
  for (double* high : {&its.high_s, &its.model_high_s}) *high *= std::exp(model.widened);
  add_efficiency_band(model.fit, point);
  return point;
}

std::optional<SeriesModel> model_of(const ScaleSeries& series, const ModelOptions& options) {
  const std::vector<StepPoint> points = fit_points(series, series.points.size());
  if (points.empty()) return std::nullopt;
  SeriesModel model;
  model.fit = fit_steps(points);
  for (const Constant& constant : model.fit.described)
    if (!constant.identified) model.open.push_back(constant.name);
  const auto on_points = [&] {
    std::vector<CurvePoint> known;
    for (const ScalePoint& point : series.points)
      known.push_back(curve_point(series, model, options, point.workers));
    return known;
  };
  model.known = on_points();
  for (std::size_t i = 0; i < series.points.size(); ++i)
    model.errors.push_back(model.known[i].prediction.time.total_s / series.points[i].seconds - 1);
  model.validation = validate(series);
  const std::set<int> workers = grid(series, options);
  judge(series, *workers.rbegin(), model);
  model.known = on_points();
  draw(series, workers, options, model);
  return model;
}

}  // namespace gradwire::results
