#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "results/prediction/step_fit.h"
#include "results/scalability/series.h"

/// The performance model (results/prediction) fitted to each series of points over workers: curve,
/// band, errors, and errors on points that it has not seen.
namespace gradwire::results {

/// The step of `series` on another number of workers; `nearest` is that of its nearest point.
/// A caller that can build the cluster at that size gives its network's figures; the default is
/// `nearest` with the workers replaced.
using StepAt =
    std::function<StepSummary(const ScaleSeries& series, const StepSummary& nearest, int workers)>;

struct CurvePoint {
  StepSummary step;
  StepPrediction prediction;  ///< prediction.extrapolated: beyond the points
  double alone_s = 0;         ///< one worker's step that sends nothing; 0 where nothing is computed
  /// Waiting for slower workers, out of prediction.time.compute_s.
  double wait_s = 0;
  int workers() const { return step.workers; }
  double efficiency() const { return alone_s / prediction.time.total_s; }
};

/// A point whose time the fit did not see.
struct HeldBack {
  int workers = 0;
  double known_s = 0;
  StepPrediction prediction;
  double error() const { return prediction.time.total_s / known_s - 1; }
  bool inside() const { return known_s >= prediction.low_s && known_s <= prediction.high_s; }
};

/// The fit to the points with fewest workers, held against the others.
struct Validation {
  std::vector<int> fitted;  ///< workers
  std::vector<HeldBack> held;
};

struct SeriesModel {
  StepFit fit;
  std::vector<CurvePoint> known;  ///< [points] at each of the series' points
  std::vector<double> errors;     ///< [points] predicted / known - 1
  std::vector<CurvePoint> curve;  ///< powers of two and what lies half-way, to `up_to`
  Validation validation;          ///< nothing held: the points have one number of workers
  /// Constants that no point shows, at their usual values.
  std::vector<std::string> open;
};

struct ModelOptions {
  int up_to = 0;  ///< workers; 0 = kBeyond times the most of any point
  StepAt step_at;
};
inline constexpr int kBeyond = 8;

/// Empty where no point has a summary of its step (its exchange has no closed form, or an earlier
/// version stored it).
std::optional<SeriesModel> model_of(const ScaleSeries& series, const ModelOptions& options);

/// The fit's answer on any number of workers.
CurvePoint curve_point(const ScaleSeries& series, const StepFit& fit, const ModelOptions& options,
                       int workers);

/// How many of k numbers of workers validation holds back: a third, rounded up, but the last one is
/// never taken (0 for k < 2).
int held_back_of(int counts);

}  // namespace gradwire::results
