#pragma once
#include <string>

#include "results/runs/summary.h"

/// Whether two means over seeds differ by more than chance.
namespace gradwire::results {

/// Half the 95 % interval of the difference of two means; NaN with fewer than two seeds of either.
/// Student's t with the smaller of the two degrees of freedom, which never calls chance a
/// difference too early.
double doubt(const Statistic& a, const Statistic& b);

/// "0.4 points", "12 points": a difference of shares without its sign.
std::string points(double share);
/// "−0.4", "+12": a difference of shares, as a number of points.
std::string signed_in_points(double share);

}  // namespace gradwire::results
