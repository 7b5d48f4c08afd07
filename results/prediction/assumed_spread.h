#pragma once
#include <algorithm>
#include <cmath>

#include "results/prediction/step_summary.h"

namespace gradwire::results {

/// How far a logarithm moves, down and up, where a step's assumed figures are at the ends of their
/// ranges (AssumedFigures). Compute and coding err apart from each other: squares add up.
struct AssumedSpread {
  double down = 0;
  double up = 0;
};

/// `log_of`: of something that follows from a step, such as its time.
template <typename LogOf>
AssumedSpread assumed_spread(const StepSummary& step, const LogOf& log_of) {
  AssumedSpread spread;
  if (step.assumed.none()) return spread;
  const double centre = log_of(step);
  const auto add = [&](const PlausibleRange& range, const auto& scaled) {
    if (range.certain()) return;
    double down = 0, up = 0;
    for (const double factor : {range.low, range.high}) {
      const double moved = log_of(scaled(step, factor)) - centre;
      down = std::max(down, -moved);
      up = std::max(up, moved);
    }
    spread.down = std::hypot(spread.down, down);
    spread.up = std::hypot(spread.up, up);
  };
  add(step.assumed.compute, with_compute);
  add(step.assumed.coding, with_coding);
  return spread;
}

}  // namespace gradwire::results
