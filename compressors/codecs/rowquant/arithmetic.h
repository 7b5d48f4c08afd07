#pragma once
#include <cstdint>

#include "compressors/arithmetic/levels.h"

/// The grids of `rowquant`, shared by CPU and CUDA; the symmetric one encodes by
/// arithmetic/levels.h.
namespace gradwire::compressors {

/// AQ-SGD's released grid (arXiv 2206.01299): min(max(rint(x inverse), -half), half - 1) + half,
/// where inverse = half / (scale + 1e-6). Any finite product will do.
GRADWIRE_HD std::uint32_t scaled_code(float value, float inverse, float half) {
  float a = value * inverse;
  a = a < half - 1.0f ? a : half - 1.0f;
  a = a > -half ? a : -half;
  return static_cast<std::uint32_t>(round_half_to_even(a) + static_cast<std::int32_t>(half));
}

/// scale (2 code - top) / top, the quotient as a product with fl(1 / top).
GRADWIRE_HD float symmetric_value(std::uint32_t code, float scale, float top, float inverse_top) {
  return scale * ((2.0f * static_cast<float>(code) - top) * inverse_top);
}

/// AQ-SGD's released grid read back: (code - half) / half * scale; inverse_half is exact.
GRADWIRE_HD float scaled_value(std::uint32_t code, float scale, float half, float inverse_half) {
  return (static_cast<float>(code) - half) * inverse_half * scale;
}

}  // namespace gradwire::compressors
