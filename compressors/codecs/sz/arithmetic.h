#pragma once
#include <cmath>
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// Dual quantisation of cuSZ and COMET (arXiv 2007.09625, 2111.09562), shared by CPU and CUDA:
///
///   p  = rint(x / (2 eb))        ties to even; as x times the reciprocal, in binary64
///   x' = 2 eb p                  in binary64, then rounded once to binary32
///   d  = p - prediction(p's neighbours), modulo 2^32, so that nothing is lost
///   symbol = d if |d| < radius, else -radius, the escape: p itself is stored
///
/// |p| <= 2^30: two roundings of 2^-53 leave |x - x'| <= eb (1 + 2^-21) + ulp(x') / 2. A value
/// beyond that has p = 0 and is stored as it is.
namespace gradwire::compressors {

inline constexpr double kDualLargest = 1073741824.0;  // 2^30
inline constexpr double kLargestFloat = 0x1.fffffep127;

struct DualGrid {
  double step;     ///< 2 eb, exact
  double inverse;  ///< 1 / step
};

/// eb > 0, finite.
GRADWIRE_HD DualGrid dual_grid(float error_bound) {
  const double step = 2.0 * static_cast<double>(error_bound);
  return DualGrid{step, 1.0 / step};
}

GRADWIRE_HD bool dual_has_code(float value, DualGrid grid) {
  return fabs(static_cast<double>(value) * grid.inverse) <= kDualLargest;
}

GRADWIRE_HD std::int32_t dual_code(float value, DualGrid grid) {
  if (!dual_has_code(value, grid)) return 0;
  return static_cast<std::int32_t>(rint(static_cast<double>(value) * grid.inverse));
}

/// Saturates: near the largest finite value the grid's next point may lie beyond it.
GRADWIRE_HD float dual_value(std::int32_t code, DualGrid grid) {
  const double value = static_cast<double>(code) * grid.step;
  if (value > kLargestFloat) return static_cast<float>(kLargestFloat);
  if (value < -kLargestFloat) return static_cast<float>(-kLargestFloat);
  return static_cast<float>(value);
}

/// p less its prediction. `predictor`: 0 none, 1 the element before, 2 in rows of `columns`
/// elements: left + above - above left, of which the first row and the first column have only one.
GRADWIRE_HD std::uint32_t lorenzo_difference(const std::int32_t* codes, std::uint64_t i,
                                             std::uint64_t columns, int predictor) {
  const auto at = [codes](std::uint64_t e) { return static_cast<std::uint32_t>(codes[e]); };
  if (predictor == 0 || i == 0) return at(i);
  if (predictor == 1 || i < columns) return at(i) - at(i - 1);
  if (i % columns == 0) return at(i) - at(i - columns);
  return at(i) - at(i - 1) - at(i - columns) + at(i - columns - 1);
}

/// Symbols as indices: difference + radius, 0 = the escape. The difference is modulo 2^32.
GRADWIRE_HD std::uint16_t lorenzo_symbol(std::uint32_t difference, std::uint32_t radius) {
  const std::uint32_t index = difference + radius;
  return index < 2 * radius ? static_cast<std::uint16_t>(index) : std::uint16_t{0};
}

}  // namespace gradwire::compressors
