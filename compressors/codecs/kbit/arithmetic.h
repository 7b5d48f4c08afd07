#pragma once
#include <cmath>
#include <cstdint>

#include "base/host_device.h"

/// Grids of quantised networks (arXiv 1609.07061), shared by CPU and CUDA.
namespace gradwire::compressors {

/// k-bit linear quantisation with 2^k levels on [-1, 1]:
/// 2 rint((2^k - 1) (x + 1) / 2) / (2^k - 1) - 1. As (2^k - 1) / 2 is a half-integer, the code is
/// 2^(k-1) + floor(m), m = x (2^k - 1) / 2 rounded once, where m is an integer the even one of this
/// and the one below: so a tiny x keeps its sign, and 0 goes up. One bit is sign(x), sign(0) = +1.
GRADWIRE_HD std::uint32_t unit_code(float value, int bits) {
  if (bits == 1) return value < 0.0f ? 0u : 1u;
  const float clipped = value > -1.0f ? (value < 1.0f ? value : 1.0f) : -1.0f;  // NaN too
  const float scaled = clipped * (0.5f * static_cast<float>((1u << bits) - 1));
  const float below = floorf(scaled);
  const int code = static_cast<int>(below) + (1 << (bits - 1));
  return static_cast<std::uint32_t>(scaled == below ? code & ~1 : code);
}
GRADWIRE_HD float unit_value(std::uint32_t code, int bits) {
  const double top = static_cast<double>((1u << bits) - 1);
  return static_cast<float>(2.0 * static_cast<double>(code) / top - 1.0);
}

/// LinearQuant(x, step) = clip(rint(x / step) step, min, max) with min = -2^(k-1) step and max =
/// (2^(k-1) - 1) step; the quotient is one division. code = rint(x / step) + 2^(k-1).
GRADWIRE_HD std::uint32_t step_code(float value, float step, int bits) {
  const float half = static_cast<float>(1u << (bits - 1));
  const float level = rintf(value / step);
  const float top = half - 1.0f;
  return static_cast<std::uint32_t>((level > -half ? (level < top ? level : top) : -half) + half);
}
GRADWIRE_HD float step_value(std::uint32_t code, float step, int bits) {
  const int level = static_cast<int>(code) - (1 << (bits - 1));
  return static_cast<float>(level) * step;
}

}  // namespace gradwire::compressors
