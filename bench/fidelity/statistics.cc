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
  const auto n = static_cast<double>(group_means.size());
  if (n < 2) return std::numeric_limits<double>::infinity();
  const double mean = mean_of(group_means);
  double squares = 0;
  for (const double value : group_means) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1) / n) / mean;
}

}  // namespace gradwire::bench
