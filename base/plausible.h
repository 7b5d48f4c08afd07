#pragma once
#include <algorithm>

namespace gradwire {

/// How far a figure that nobody measured may be from the truth: in nine of ten cases the truth is
/// between `low` and `high` times the figure. 1 to 1: it was measured, or is exact.
struct PlausibleRange {
  double low = 1;
  double high = 1;

  bool certain() const { return low == 1 && high == 1; }
  /// What covers both.
  PlausibleRange with(const PlausibleRange& other) const {
    return {std::min(low, other.low), std::max(high, other.high)};
  }
  bool operator==(const PlausibleRange&) const = default;
};

}  // namespace gradwire
