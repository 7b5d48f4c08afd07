#pragma once
#include <cmath>
#include <cstdint>

#include "compressors/arithmetic/levels.h"

/// QSGD's arithmetic (Alistarh et al., arXiv 1610.02132), shared by CPU and CUDA. For each bucket,
/// with s levels and norm N (2-norm, or the largest magnitude):
///
///   a     = |x| s / N;  level = floor(a) + [u < frac a];  value = sgn(x) N level / s
///
/// The division becomes a product with `scale` = 2^24 s / N, raised by the few ulps that take
/// |x| = N to level s exactly; the value is min(fl(level unit), N), where unit = N / s is raised
/// until fl(s unit) >= N, so that level s is exactly N. Norms below 2^-80 (`wide`) are encoded
/// through double.
namespace gradwire::compressors {

inline constexpr std::uint32_t kMostNormLevels = 65535;

struct NormGrid {
  float norm;
  float unit;
  float scale;  ///< 2^24 s / N; 0 for N = 0
  float top;    ///< s
  bool wide;
};

/// Preconditions: norm finite and >= 0, 1 <= levels <= kMostNormLevels.
GRADWIRE_HD NormGrid norm_grid(float norm, std::uint32_t levels) {
  NormGrid grid{norm, 0.0f, 0.0f, static_cast<float>(levels), norm < 0x1p-80f && norm > 0.0f};
  if (!(norm > 0.0f)) return grid;
  grid.unit = static_cast<float>(static_cast<double>(norm) / levels);
  while (grid.top * grid.unit < norm) grid.unit = float_of(bits_of(grid.unit) + 1);
  if (grid.wide) return grid;
  grid.scale = static_cast<float>(levels * 0x1p24 / norm);
  while (norm * grid.scale < grid.top * 0x1p24f) grid.scale = float_of(bits_of(grid.scale) + 1);
  return grid;
}

/// The level of a value of magnitude at most N, without its sign.
GRADWIRE_HD std::uint32_t norm_level(float value, const NormGrid& grid, std::uint32_t draw) {
  const float magnitude = float_of(magnitude_bits(value));
  if (grid.wide) {
    const double a = static_cast<double>(magnitude) * grid.top / grid.norm;
    return wide_round(a, grid.top, LevelRounding::kDrawn, draw);
  }
  const float scaled = magnitude * grid.scale, largest = grid.top * 0x1p24f;
  return drawn_level(scaled < largest ? scaled : largest, draw);
}

/// The level with its sign; level 0 has none.
GRADWIRE_HD std::int32_t signed_norm_level(float value, const NormGrid& grid, std::uint32_t draw) {
  const auto level = static_cast<std::int32_t>(norm_level(value, grid, draw));
  return value < 0.0f ? -level : level;
}

/// sign << (bits - 1) | level, the sign of level 0 being 0. levels < 2^(bits - 1).
GRADWIRE_HD std::uint32_t norm_code(float value, const NormGrid& grid, std::uint32_t draw,
                                    int bits) {
  const std::uint32_t level = norm_level(value, grid, draw);
  return level | (value < 0.0f && level > 0 ? 1u << (bits - 1) : 0u);
}

GRADWIRE_HD float norm_level_value(std::uint32_t level, bool negative, const NormGrid& grid) {
  const float product = static_cast<float>(level) * grid.unit;
  const float magnitude = product < grid.norm ? product : grid.norm;
  return negative ? -magnitude : magnitude;
}

/// The value of norm_code's result; its level may be any below 2^(bits - 1).
GRADWIRE_HD float norm_code_value(std::uint32_t code, const NormGrid& grid, int bits) {
  return norm_level_value(code & ((1u << (bits - 1)) - 1), code >> (bits - 1) != 0, grid);
}

/// N from the ordered sum of squares; a norm beyond binary32 becomes its largest number, which is
/// still no less than any magnitude and so leaves the codec unbiased.
GRADWIRE_HD float norm_from_squares(double sum_squares) {
  const double norm = sqrt(sum_squares);
  const double largest = 3.4028234663852886e38;
  return static_cast<float>(norm < largest ? norm : largest);
}

}  // namespace gradwire::compressors
