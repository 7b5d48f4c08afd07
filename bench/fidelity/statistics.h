#pragma once
#include <cmath>
#include <utility>
#include <vector>

namespace gradwire::bench {

double mean_of(const std::vector<double>& values);
/// Linear between order statistics; 0 <= p <= 1. Precondition: not empty.
double quantile_of(std::vector<double> values, double p);
inline double median_of(std::vector<double> values) {
  return quantile_of(std::move(values), 0.5);
}
/// Standard error of the mean of independent groups' means, as a share of that mean.
double relative_error_of(const std::vector<double>& group_means);

/// A mean by a control variate: each y_i was drawn together with a control x_i whose mean m is
/// known from elsewhere. The estimate
///     mean(y) + slope (m - mean(x)),  slope = cov(x, y) / var(x)
/// has the variance of y's residuals alone, and no bias but one of order 1 / n, whether x resembles
/// y or not (Law, Simulation Modeling and Analysis, 11.4).
struct Controlled {
  double slope = 0;
  double residual = 0;  ///< standard error of the estimate where m is mean(x)
  double spread = 0;    ///< sqrt(sum (x_i - mean(x))^2 / n)
  /// ... where m is `apart` from mean(x): residual sqrt(1 + apart^2 / spread^2), for the slope is
  /// an estimate, too (Draper and Smith, Applied Regression Analysis, 1.4). A sample whose controls
  /// are all shorter than their mean says little of the longer ones.
  double residual_at(double apart) const {
    return spread > 0 ? residual * std::hypot(1, apart / spread) : residual;
  }
};
/// Fewer than 6 pairs, or controls that are all alike: slope 0, and y's own standard error.
Controlled controlled(const std::vector<double>& y, const std::vector<double>& x);
/// The same with the slope 1: nothing of it is estimated, so that its residual holds wherever m is.
/// Precondition: as many of both, two or more.
Controlled controlled_by_difference(const std::vector<double>& y, const std::vector<double>& x);

}  // namespace gradwire::bench
