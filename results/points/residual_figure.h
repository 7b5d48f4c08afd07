#pragma once
#include <span>

#include "results/figures/figure.h"
#include "results/prediction/step_fit.h"

namespace gradwire::results {

/// The model's error at each point against the point's time, one series a provenance, and the
/// points' scatter as lines. `points` as the fit was made from them.
Figure residual_figure(const StepFit& fit, std::span<const StepPoint> points);

}  // namespace gradwire::results
