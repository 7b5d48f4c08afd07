#include "gui/charts/ticks.h"

#include <cmath>

namespace gradwire::gui {

std::vector<double> round_ticks(double from, double to, int most) {
  std::vector<double> ticks;
  if (!(to > from) || most < 1) return ticks;
  const double rough = (to - from) / most;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power;
  for (double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (step >= rough) break;
  }
  const double first = std::ceil(from / step);
  for (int i = 0; (first + i) * step <= to && i <= most; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

}  // namespace gradwire::gui
