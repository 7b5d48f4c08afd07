#pragma once
#include <algorithm>
#include <vector>

namespace gradwire::results {

/// The middle of values; of an even number the mean of the middle two, 0 of none. (`median` of
/// results/runs/summary.h is always one of the values.)
inline double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

}  // namespace gradwire::results
