#pragma once
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

}  // namespace gradwire::bench
