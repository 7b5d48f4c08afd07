#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "results/prediction/step_fit.h"
#include "results/scalability/series.h"

/// The performance model (results/prediction) fitted to each series of points over workers: curve,
/// band, errors, errors on points that it has not seen, and how far that lets it be relied upon.
namespace gradwire::results {

/// The step of `series` on that number of workers; `nearest` is that of its nearest point.
/// A caller that can build the cluster at that size gives its network's figures; the default is
/// `nearest` with the workers replaced.
using StepAt =
    std::function<StepSummary(const ScaleSeries& series, const StepSummary& nearest, int workers)>;

struct CurvePoint {
  StepSummary step;
  StepPrediction prediction;  ///< prediction.extrapolated: beyond the points
  double alone_s = 0;         ///< one worker's step that sends nothing; 0 where nothing is computed
  /// 90 % band of efficiency(): figures that were assumed move the lone worker's step, too.
  double efficiency_low = 0, efficiency_high = 0;
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
  std::vector<CurvePoint> curve;  ///< powers of two and what lies half-way, to `holds_to`
  Validation validation;          ///< nothing held: the points have one number of workers
  /// Constants that no point shows, at their usual values.
  std::vector<std::string> open;
  /// By how much the points lie outside the fit's own band, at most (of log time); all bands here
  /// are that much wider.
  double widened = 0;
  /// Workers up to which something may be concluded from it. 0: it misses its own points beyond its
  /// band, or by more than kMisfit; those of the largest point: it missed what was held back; fewer
  /// than `up_to`: beyond, its steps are shorter than on fewer.
  int holds_to = 0;
  std::string limit;  ///< why no further; empty: it holds up to `up_to`
  bool holds() const { return holds_to > 0; }
};

struct ModelOptions {
  int up_to = 0;  ///< workers; 0 = kBeyond times the most of any point
  StepAt step_at;
};
inline constexpr int kBeyond = 8;

/// A form that misses its own runs by more says nothing of what goes on, however wide its band.
inline constexpr double kMisfit = 0.1;
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// How far the interval of a point's runs lies outside the model's band, of log time; 0 where they
/// meet. The band is the model's own, since the runs rest on the same figures, assumed or not, and
/// reaches no farther than `widest` from its middle.
double outside_band(const ScalePoint& point, const StepPrediction& prediction,
                    double widest = kNoLimit);

/// Empty where no point has a summary of its step (its exchange has no closed form, or an earlier
/// version stored it).
std::optional<SeriesModel> model_of(const ScaleSeries& series, const ModelOptions& options);

/// The fit's answer on any number of workers.
CurvePoint curve_point(const ScaleSeries& series, const SeriesModel& model,
                       const ModelOptions& options, int workers);

/// How many of k numbers of workers validation holds back: a third, rounded up, but the last one is
/// never taken (0 for k < 2).
int held_back_of(int counts);

}  // namespace gradwire::results
