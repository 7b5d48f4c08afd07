#include "results/prediction/step_fit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/error.h"
#include "results/prediction/assumed_spread.h"
#include "results/prediction/least_squares.h"
#include "results/statistics/percent.h"

namespace gradwire::results {
namespace {

constexpr double kLeastScatter = 0.0001;  ///< log time: a simulated step's reading is exact
// Deviations in log time of what the form itself leaves out, at the points' largest number of
// workers and for each doubling beyond it; from simulations that were held out.
constexpr double kFormErrorClean = 0.00005, kFormErrorCleanDoubling = 0.00005;
constexpr double kFormErrorLossy = 0.022, kFormErrorLossyDoubling = 0.02;
constexpr double kFormErrorChanging = 0.015;  ///< links that change but lose nothing
constexpr double kFormErrorChangingDoubling = 0.008;
// Where links differ: of the forms of trees, halving-doubling and two levels, whose ranks do not
// wait for each other's hops, and of others; of lossy ones; and beside what is known of the
// simulations that corrected them.
constexpr double kUnequalOrdered = 0.15, kUnequal = 0.05, kUnequalLossy = 0.2;
// Trees and halving-doubling among numbers of workers that are no power of two, whose order their
// forms leave out: 3 workers of a tree 18 to 24 % early, 6 to 12 that halve 24 to 54 % late.
constexpr double kOddTree = 0.15, kOddHalving = 0.3;
constexpr double kSimulated = 0.005, kSimulatedLossy = 0.014;
constexpr double kOutlierWeight = 0.25;

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

double unequal_error(const StepSummary& step) {
  if (step.paths_of(step.exchange) == nullptr) return 0;
  if (step.loss > 0) return kUnequalLossy;
  const bool ordered = step.exchange == ExchangeKind::kTreeAllReduce ||
                       step.exchange == ExchangeKind::kHalvingDoubling ||
                       step.exchange == ExchangeKind::kTwoLevel;
  return ordered ? kUnequalOrdered : kUnequal;
}

double odd_error(const StepSummary& step) {
  if (std::has_single_bit(static_cast<unsigned>(step.workers))) return 0;
  if (step.exchange == ExchangeKind::kHalvingDoubling) return kOddHalving;
  return step.exchange == ExchangeKind::kTreeAllReduce ? kOddTree : 0;
}

/// At the points' own numbers of workers.
double form_error_at_points(const StepSummary& step) {
  if (step.correction_error)
    return std::hypot(step.loss > 0 ? kSimulatedLossy : kSimulated, *step.correction_error);
  const double usual = step.loss > 0         ? kFormErrorLossy
                       : step.is_irregular() ? kFormErrorChanging
                                             : kFormErrorClean;
  return std::hypot(usual, unequal_error(step), odd_error(step));
}

/// Nearer to the usual value than that, in deviations of its prior, a constant counts as being
/// there.
constexpr double kUsual = 0.05;

/// No more arrives than the line carries.
double most_of(const StepConstantInfo& info) {
  return info.constant == StepConstant::kEfficiency ? 1 : std::numeric_limits<double>::infinity();
}

double unbounded(const StepConstantInfo& info, double x) {
  return info.logarithmic ? std::exp(x) : x;
}
double shown(const StepConstantInfo& info, double x) {
  return std::min(most_of(info), unbounded(info, x));
}
double hidden(const StepConstantInfo& info, double value) {
  return info.logarithmic ? std::log(value) : value;
}

StepConstants constants_at(std::span<const double> x, bool bounded = true) {
  StepConstants constants{};
  for (std::size_t k = 0; k < kStepConstants; ++k)
    constants[k] = (bounded ? shown : unbounded)(kStepConstantTable[k], x[k]);
  return constants;
}

std::vector<Unknown> unknowns() {
  std::vector<Unknown> list;
  for (const StepConstantInfo& info : kStepConstantTable) {
    const double usual = hidden(info, info.usual);
    list.push_back({std::string(info.name), usual, usual, info.spread});
  }
  return list;
}

void check(const StepPoint& point) {
  const auto refuse = [&](const char* reason) {
    throw Error(ErrorKind::kFailure, "fit the model to", point.name, reason);
  };
  if (!std::isfinite(point.seconds) || point.seconds <= 0) refuse("its time is not above 0");
  if (!std::isfinite(point.step.bandwidth) || point.step.bandwidth <= 0)
    refuse("its bandwidth is not known");
  if (point.step.workers < 1 || point.step.buckets.empty()) refuse("nothing is exchanged");
}

/// Constants whose mean and covariance are the fit's.
std::vector<StepConstants> draws_of(const LeastSquaresFit& fit) {
  std::vector<StepConstants> draws;
  for (const std::vector<double>& x : sigma_points(fit)) draws.push_back(constants_at(x));
  return draws;
}

/// Log times of the points, and the search over them.
class FitSearch {
 public:
  explicit FitSearch(std::span<const StepPoint> points) : points_(points) {
    for (const StepPoint& point : points) {
      logs_.push_back(std::log(point.seconds));
      const double known = std::hypot(known_to(point), form_error_at_points(point.step));
      shares_.push_back(kLeastScatter / std::hypot(kLeastScatter, known));
    }
  }

  /// Within the bounds of what can be; the points may ask for more.
  LeastSquaresFit fit() {
    bounded_ = false;
    LeastSquaresFit free = solve();
    bounded_ = true;
    asked_ = constants_at(free.values, false);
    return asked_ == constants_at(free.values) ? free : solve();
  }
  const StepConstants& asked() const { return asked_; }

 private:
  LeastSquaresFit solve() const {
    const Residuals residuals = [&](std::span<const double> x, std::span<double> out) {
      const StepConstants constants = constants_at(x, bounded_);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = shares_[i] * (std::log(step_time(points_[i].step, constants).total_s) - logs_[i]);
    };
    return fit_least_squares(unknowns(), points_.size(), residuals, {.least_scale = kLeastScatter});
  }

  std::span<const StepPoint> points_;
  std::vector<double> logs_;
  std::vector<double> shares_;  ///< of a residual: small where chance decides, or the form is rough
  StepConstants asked_{};
  bool bounded_ = true;
};

void add_to(std::string& list, const std::string& part) {
  list += (list.empty() ? "" : ", ") + part;
}

/// What the points leave open: constants at their usual values, and those that have moved although
/// their priors count for more.
void warn_of_open(StepFit& fit) {
  std::string usual, moved;
  for (std::size_t k = 0; k < kStepConstants; ++k) {
    const StepConstantInfo& info = kStepConstantTable[k];
    if (fit.described[k].identified) continue;
    const double value = fit.constants[k];
    const double moves = hidden(info, value) - hidden(info, info.usual);
    if (std::abs(moves) <= kUsual * info.spread)
      add_to(usual, std::string(info.name));
    else
      add_to(moved, std::string(info.name) + " (" + text_of(value) + ", usually " +
                        text_of(info.usual) + ")");
  }
  if (!usual.empty())
    fit.warnings.push_back("the points do not show: " + usual + "; usual values are taken");
  if (!moved.empty())
    fit.warnings.push_back("the points show little of: " + moved +
                           "; priors decide more of these than the points do");
}

/// Where the points ask for what cannot be.
void warn_of_bounds(const StepConstants& asked, StepFit& fit) {
  for (std::size_t k = 0; k < kStepConstants; ++k) {
    const StepConstantInfo& info = kStepConstantTable[k];
    if (asked[k] > most_of(info))
      fit.warnings.push_back("the points ask for a " + std::string(info.name) + " of " +
                             text_of(asked[k]) + ", and none is above " + text_of(most_of(info)) +
                             ": are bandwidth, message and compute right?");
  }
}

void describe(const LeastSquaresFit& least, StepFit& fit) {
  for (std::size_t k = 0; k < kStepConstants; ++k) {
    const StepConstantInfo& info = kStepConstantTable[k];
    const double x = least.values[k], deviation = kNormal90 * least.deviation(k);
    fit.described.push_back({std::string(info.name), "", shown(info, x), shown(info, x - deviation),
                             shown(info, x + deviation), least.identified(k)});
  }
  warn_of_open(fit);
}

void warn_of_points(std::span<const StepPoint> points, const LeastSquaresFit& least, StepFit& fit) {
  for (std::size_t i = 0; i < points.size(); ++i)
    if (least.weights[i] < kOutlierWeight)
      fit.warnings.push_back(points[i].name + " is an outlier (" +
                             percent_by("%+.1f", fit.residuals[i]) + "): it counts little");
}

/// Robust deviation of log time: the residuals', or what chance does to the points if that is more.
double scatter_of(std::span<const StepPoint> points, const LeastSquaresFit& least) {
  std::vector<double> errors;
  for (const StepPoint& point : points) errors.push_back(known_to(point));
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  return least.scale / kLeastScatter * std::max(kLeastScatter, *middle);
}

double form_error(const StepFit& fit, const StepSummary& step) {
  if (step.correction_error) return form_error_at_points(step);  // simulated as many as it has
  const double beyond =
      std::max(0.0, std::log2(static_cast<double>(step.workers) / std::max(fit.most_workers, 1)));
  const double doubling = step.loss > 0          ? kFormErrorLossyDoubling
                          : step.rate_spread > 0 ? kFormErrorChangingDoubling
                                                 : kFormErrorCleanDoubling;
  return form_error_at_points(step) + doubling * beyond;
}

}  // namespace

double known_to(const StepPoint& point) {
  if (point.steps == 0 || point.step.loss <= 0 || point.seconds <= 0) return point.relative_error;
  return std::hypot(point.relative_error, point.step.timeout_s / point.steps / point.seconds);
}

StepFit fit_steps(std::span<const StepPoint> points) {
  for (const StepPoint& point : points) check(point);
  FitSearch search(points);
  const LeastSquaresFit least = search.fit();
  StepFit fit;
  fit.constants = constants_at(least.values);
  fit.scatter = scatter_of(points, least);
  for (std::size_t i = 0; i < points.size(); ++i)
    fit.residuals.push_back(step_time(points[i].step, fit.constants).total_s / points[i].seconds -
                            1);
  fit.least_workers = fit.most_workers = points[0].step.workers;
  for (const StepPoint& point : points) {
    fit.least_workers = std::min(fit.least_workers, point.step.workers);
    fit.most_workers = std::max(fit.most_workers, point.step.workers);
  }
  fit.ground = ground_of(points);
  describe(least, fit);
  warn_of_bounds(search.asked(), fit);
  warn_of_points(points, least, fit);
  fit.draws = draws_of(least);
  return fit;
}

StepFit usual_fit() {
  StepFit fit;
  fit.constants = usual_constants();
  fit.scatter = kLeastScatter;
  LeastSquaresFit usual;
  usual.covariance.resize(kStepConstants * kStepConstants);
  for (std::size_t k = 0; k < kStepConstants; ++k) {
    const StepConstantInfo& info = kStepConstantTable[k];
    const double x = hidden(info, info.usual), half = kNormal90 * info.spread;
    usual.values.push_back(x);
    usual.covariance[k * (kStepConstants + 1)] = info.spread * info.spread;
    fit.described.push_back({std::string(info.name), "", info.usual, shown(info, x - half),
                             shown(info, x + half), false});
  }
  fit.draws = draws_of(usual);
  fit.warnings.push_back("nothing was fitted: constants are at their usual values");
  return fit;
}

StepPrediction predict_step(const StepFit& fit, const StepSummary& step) {
  StepPrediction prediction;
  prediction.time = step_time(step, fit.constants);
  const double centre = std::log(prediction.time.total_s);
  double variance = fit.scatter * fit.scatter + std::pow(form_error(fit, step), 2);
  double spread = 0;
  for (const StepConstants& draw : fit.draws)
    spread += std::pow(std::log(step_time(step, draw).total_s) - centre, 2);
  if (!fit.draws.empty() && !step.correction_error)
    variance += spread / static_cast<double>(fit.draws.size());
  const double half = kNormal90 * std::sqrt(variance);
  const AssumedSpread assumed = assumed_spread(step, [&](const StepSummary& moved) {
    return std::log(step_time(moved, fit.constants).total_s);
  });
  prediction.model_low_s = std::exp(centre - half);
  prediction.model_high_s = std::exp(centre + half);
  prediction.low_s = std::exp(centre - std::hypot(half, assumed.down));
  prediction.high_s = std::exp(centre + std::hypot(half, assumed.up));
  prediction.extrapolated = step.workers > fit.most_workers || step.workers < fit.least_workers;
  return prediction;
}

}  // namespace gradwire::results
