#pragma once
#include <string>

namespace gradwire::results {

/// Half of a normal law's 90 % interval, in deviations.
inline constexpr double kNormal90 = 1.645;

/// A constant that was fitted, with its unit and what is known of it.
struct Constant {
  std::string name;
  std::string unit;
  double value = 0;
  double low = 0, high = 0;  ///< 90 % interval (prior included)
  bool identified = true;    ///< by the points; else its prior decides
};

}  // namespace gradwire::results
