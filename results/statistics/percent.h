#pragma once
#include <cstdio>
#include <string>

namespace gradwire::results {

/// "12.5 %" of the share 0.125; `format` is printf's, of the number: "%.3g".
inline std::string percent_by(const char* format, double share) {
  char text[40];
  std::snprintf(text, sizeof text, format, 100 * share);
  return std::string(text) + " %";
}

}  // namespace gradwire::results
