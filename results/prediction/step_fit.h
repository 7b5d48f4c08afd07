#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/prediction/constant.h"
#include "results/prediction/fit_ground.h"
#include "results/prediction/step_model.h"
#include "results/store/store.h"

/// The fitted model: constants of step_model.h from steps whose times are known, and predictions
/// with a band.
///
/// Fit. Residuals are log(predicted / known), over what chance does to the known time (its standard
/// error, at least kLeastScatter) and the form's own error: where the form is rough, a point that
/// is known exactly must not bend its constants. Robust least squares (least_squares.h) with the
/// table's priors, so that a constant which the points do not show stays at its usual value, with
/// the uncertainty that this leaves.
///
/// Band. The constants' uncertainty is a sample of fits to the points and prior means, each shaken
/// by its own deviation (randomised maximum a posteriori: J. Bardsley et al., SIAM J. Sci. Comput.
/// 36, 2014, A1895; a bootstrap that counts the priors). The 90 % band of a prediction adds, in log
/// time, the points' scatter and the form's own error, which grows with the doublings of the
/// workers beyond the points (kFormError*, step_fit.cc: from held-out simulations). Figures of the
/// step that were assumed widen it, by their own ranges (assumed_spread.h): no fit knows of those.
namespace gradwire::results {

struct StepPoint {
  std::string name;
  StepSummary step;
  double seconds = 0;         ///< mean of its steps
  double relative_error = 0;  ///< standard error of that mean; 0 = exact, or not known
  Provenance provenance = Provenance::kSimulated;
  int steps = 0;  ///< that the mean is of; 0 = not known
};
/// Relative standard error of the point's time: `relative_error`, and under loss that of one
/// timeout more or less among its steps, which few steps may not have shown.
double known_to(const StepPoint& point);

struct StepFit {
  StepConstants constants{};
  std::vector<Constant> described;          ///< [kStepConstants] in the table's order
  std::vector<StepConstants> draws;         ///< constants of the fit's mean and covariance
  std::vector<double> residuals;            ///< [points] predicted / known - 1
  double scatter = 0;                       ///< robust deviation of log time
  int least_workers = 0, most_workers = 0;  ///< of the points
  FitGround ground;
  std::vector<std::string> warnings;  ///< constants that priors decide, outliers, repeated points
};

struct StepPrediction {
  StepTime time;
  /// 90 % band of time.total_s: the model's, and what the step's figures were assumed to be
  /// (StepSummary::assumed).
  double low_s = 0, high_s = 0;
  /// The model's part of it, for who holds it against a simulation of the same figures.
  double model_low_s = 0, model_high_s = 0;
  bool extrapolated = false;  ///< more or fewer workers than any point
};

/// Throws Error: no points, a time that is not above 0 or not finite, a bandwidth that is not above
/// 0 (names the point).
StepFit fit_steps(std::span<const StepPoint> points);
/// No fit: constants at their usual values and as uncertain as their priors, no point. Bands are
/// wide.
StepFit usual_fit();
StepPrediction predict_step(const StepFit& fit, const StepSummary& step);

}  // namespace gradwire::results
