#include "results/prediction/correction.h"

#include <algorithm>
#include <cmath>

namespace gradwire::results {

void Correction::add(double at_value, double its_factor) {
  const auto above = std::lower_bound(value.begin(), value.end(), at_value);
  const auto i = above - value.begin();
  value.insert(above, at_value);
  factor.insert(factor.begin() + i, its_factor);
}

bool Correction::knows(double at_value) const {
  return std::binary_search(value.begin(), value.end(), at_value);
}

double Correction::at(double at_value) const {
  if (value.empty()) return 1;
  const auto above = std::lower_bound(value.begin(), value.end(), at_value);
  const auto i = static_cast<std::size_t>(above - value.begin());
  if (i == 0) return factor.front();
  if (i == value.size()) return factor.back();
  const double share = std::log(at_value / value[i - 1]) / std::log(value[i] / value[i - 1]);
  return factor[i - 1] + share * (factor[i] - factor[i - 1]);
}

}  // namespace gradwire::results
