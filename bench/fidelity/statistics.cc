#include "bench/fidelity/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gradwire::bench {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile_of(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const double at = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

double relative_error_of(const std::vector<double>& group_means) {
  return controlled(group_means, {}).residual / mean_of(group_means);
}

Controlled controlled(const std::vector<double>& y, const std::vector<double>& x) {
  constexpr double kLeastPairs = 6;
  const auto n = static_cast<double>(y.size());
  if (n < 2) return {0, std::numeric_limits<double>::infinity()};
  const double mean_y = mean_of(y), mean_x = x.empty() ? 0 : mean_of(x);
  double yy = 0, xy = 0, xx = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double of_y = y[i] - mean_y, of_x = x.empty() ? 0 : x[i] - mean_x;
    yy += of_y * of_y;
    xy += of_x * of_y;
    xx += of_x * of_x;
  }
  if (n < kLeastPairs || xx <= 0) return {0, std::sqrt(yy / (n - 1) / n)};
  const double slope = xy / xx;
  return {slope, std::sqrt(std::max(0.0, yy - slope * xy) / (n - 2) / n), std::sqrt(xx / n)};
}

Controlled controlled_by_difference(const std::vector<double>& y, const std::vector<double>& x) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < y.size(); ++i) differences.push_back(y[i] - x[i]);
  return {1, controlled(differences, {}).residual};
}

}  // namespace gradwire::bench
