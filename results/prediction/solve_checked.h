#pragma once
#include <functional>

#include "results/prediction/solve.h"

namespace gradwire::results {

/// The step as it is simulated where the quantity asked for has this value. `sample`: 0, 1, ... for
/// simulations of one value that do not share their chance.
using SimulateAnswer = std::function<StepPoint(double value, int sample)>;

struct CheckOptions {
  double tolerance = 0.01;        ///< of a step's time, beside twice what chance does to it
  double lossy_tolerance = 0.04;  ///< where losses or traces make the form rougher
  /// What the answer may miss by at most, in units of the tolerance, if none comes nearer.
  double accepted = 2.5;
  int most_simulations = 6;
  /// Samples of one value, where chance leaves open whether it misses by more than the tolerance.
  int most_samples = 5;
};

struct CheckedSolution {
  Solution solution;  ///< `value` corrected; the band is the model's, moved along
  int simulations = 0;
  double unchecked_error = 0;  ///< simulated / allowed - 1 at the value that the model alone gives
  double error = 0;            ///< the same at `solution.value`
  /// The corrected model's time there / allowed - 1; 0 where it has no answer, and the best that
  /// was simulated is given.
  double forward_error = 0;
  double chance = 0;  ///< relative standard error of that simulation
};

/// solve_step, and its answer simulated. Where a simulated step misses what is allowed by more than
/// the tolerance - where chance may have done that, more samples tell -, the model's time is
/// corrected there - by simulated / predicted, between simulated values in proportion to their
/// logarithms, beyond them as at the nearest - and solved again. Of all simulated values the one
/// that misses least is given. Where chance decides, two samples at least say that a value is near
/// enough. Where no value meets the target, what the quantity can be at best is
/// simulated before that is said; and where something simulated came near, that is given. Whole
/// workers may have no better neighbour: their search ends when a value comes again that has no
/// time to spare; where it has, more are tried, whatever the model says; and one that meets the
/// target is better than one that does not.
CheckedSolution solve_checked(const StepFit& fit, const StepSummary& step, SolveFor quantity,
                              const Target& target, double samples, const SimulateAnswer& simulate,
                              const CheckOptions& options = {});

}  // namespace gradwire::results
