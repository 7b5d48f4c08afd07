#include "results/runs/difference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "results/statistics/student_t.h"

namespace gradwire::results {

double doubt(const Statistic& a, const Statistic& b) {
  if (a.n < 2 || b.n < 2) return std::numeric_limits<double>::quiet_NaN();
  const double variance = a.spread * a.spread / a.n + b.spread * b.spread / b.n;
  return student_quantile(0.975, std::min(a.n, b.n) - 1) * std::sqrt(variance);
}

namespace {

std::string number_of_points(double share) {
  char text[32];
  std::snprintf(text, sizeof text, std::abs(share) >= 0.0995 ? "%.0f" : "%.1f",
                100 * std::abs(share));
  return text;
}

}  // namespace

std::string points(double share) {
  return number_of_points(share) + " points";
}

std::string signed_in_points(double share) {
  return (share < 0 ? "\u2212" : "+") + number_of_points(share);
}

}  // namespace gradwire::results
