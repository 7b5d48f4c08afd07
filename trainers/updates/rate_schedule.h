#pragma once
#include <optional>
#include <string>
#include <vector>

#include "trainers/moment.h"

/// The learning rate as data: a pure function of the moment.
namespace gradwire::trainers {

/// t: steps or epochs done, W: the warm-up's length, T: `over`.
///
///   t < W:   peak (f + (1 - f) t / W),  f = warm_up_from
///   else, with x = (t - W) / (T - W), at most 1:
///     constant      peak
///     step          peak factor^(number of milestones <= t)
///     cosine        peak (e + (1 - e) (1 + cos(pi x)) / 2),  e = final     (arXiv 1608.03983, eq.
///     5) polynomial    peak (e + (1 - e) (1 - x)^power)         (arXiv 1708.03888, section 5)
///     inverse-time  peak / (1 + (t - W) / time)
///
/// Linear warm-up to a rate scaled with the batch is Goyal et al.'s (arXiv 1706.02677, 2.2).
struct RateSchedule {
  enum class Shape { kConstant, kStep, kCosine, kPolynomial, kInverseTime };
  enum class Scaling { kNone, kLinear, kSquareRoot };

  Shape shape = Shape::kConstant;
  bool in_epochs = false;  ///< what t, W, T, the milestones and `time` count; else steps
  double warm_up = 0;
  std::optional<double> warm_up_from;  ///< a share of the peak
  std::vector<double> milestones;      ///< ascending
  double factor = 0.1;
  std::optional<double> over;
  double final = 0;  ///< a share of the peak
  double power = 1;
  double time = 0;

  /// peak = lr k or lr sqrt(k), k = samples of all workers in a step / `reference_batch`.
  Scaling scaling = Scaling::kNone;
  std::optional<double> reference_batch;

  double peak = 0;  ///< set by completed()
};

/// "constant", "step", ...: asserts that it is one of them.
RateSchedule::Shape shape_of(const std::string& name);
RateSchedule::Scaling scaling_of(const std::string& name);

struct RunShape {
  std::int64_t steps = 0;
  double epochs = 0;
  int batch = 0;  ///< samples of a worker in a step
  int workers = 1;
};

/// With all that was left open: the peak from `rate` and the scaling; `over`: the run's length;
/// `reference_batch`: a worker's batch; `warm_up_from`: rate / peak with a scaling, so that
/// warm-up starts at `rate`, else 0.
RateSchedule completed(const RateSchedule& schedule, double rate, const RunShape& run);

/// Precondition: a schedule of completed().
double rate_at(const RateSchedule& schedule, const Moment& moment);

}  // namespace gradwire::trainers
