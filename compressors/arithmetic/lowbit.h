#pragma once
#include <cmath>
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// Low-bit tables and k-bit grids, shared by CPU and CUDA.
namespace gradwire::compressors {

/// A symmetric table T of small integers (ADMM quantisation, arXiv 2111.14836): sorted entries, and
/// the magnitudes among them.
struct LowbitTable {
  int bits;            ///< of a code, the index into `entries`
  int count;           ///< entries
  float entries[8];    ///< ascending; those beyond `count` are 0
  int levels;          ///< magnitudes
  float magnitude[4];  ///< ascending
  float mean;          ///< mean |T| over the entries
};
inline constexpr LowbitTable kLowbitTables[] = {
    {1, 2, {-1, 1}, 1, {1}, 1.0f},
    {2, 3, {-1, 0, 1}, 2, {0, 1}, 2.0f / 3.0f},
    {3, 5, {-2, -1, 0, 1, 2}, 3, {0, 1, 2}, 6.0f / 5.0f},
    {3, 7, {-4, -2, -1, 0, 1, 2, 4}, 4, {0, 1, 2, 4}, 2.0f},
};

/// |v| takes level j iff it is above j of the thresholds: ties go to the smaller magnitude.
struct LowbitThresholds {
  float limit[3];
};

/// The midpoints between neighbouring magnitudes times alpha, rounded down to binary32, so that
/// |v| > limit iff |v| > the exact product.
GRADWIRE_HD LowbitThresholds lowbit_thresholds(const LowbitTable& table, float alpha) {
  LowbitThresholds t{{float_of(kInfinityBits), float_of(kInfinityBits), float_of(kInfinityBits)}};
  for (int j = 0; j + 1 < table.levels; ++j) {
    const double middle = 0.5 * (static_cast<double>(table.magnitude[j]) +
                                 static_cast<double>(table.magnitude[j + 1]));
    const double exact = middle * static_cast<double>(alpha);
    float limit = static_cast<float>(exact);
    if (static_cast<double>(limit) > exact) limit = float_of(bits_of(limit) - 1);
    t.limit[j] = limit;
  }
  return t;
}

GRADWIRE_HD int lowbit_level(float value, const LowbitThresholds& t) {
  const float magnitude = float_of(magnitude_bits(value));
  return (magnitude > t.limit[0]) + (magnitude > t.limit[1]) + (magnitude > t.limit[2]);
}

/// Index into the table: with a middle entry, middle +- level; sign(0) = +1 without.
GRADWIRE_HD std::uint32_t lowbit_code(float value, const LowbitThresholds& t, int middle) {
  if (middle < 0) return value < 0.0f ? 0u : 1u;
  const int level = lowbit_level(value, t);
  return static_cast<std::uint32_t>(value < 0.0f ? middle - level : middle + level);
}
/// The middle entry's index, or -1 where the table has no zero.
GRADWIRE_HD int lowbit_middle(const LowbitTable& table) {
  return table.count % 2 == 0 ? -1 : table.count / 2;
}

/// k-bit linear quantisation (arXiv 1609.07061) with 2^k levels on [-1, 1]:
/// 2 rint((2^k - 1) (x + 1) / 2) / (2^k - 1) - 1. One bit is sign(x), sign(0) = +1, where rint
/// would send 0 to -1.
GRADWIRE_HD std::uint32_t unit_code(float value, int bits) {
  if (bits == 1) return value < 0.0f ? 0u : 1u;
  const float clipped = value < -1.0f ? -1.0f : value > 1.0f ? 1.0f : value;
  const float half_top = 0.5f * static_cast<float>((1u << bits) - 1);
  return static_cast<std::uint32_t>(rintf((clipped + 1.0f) * half_top));
}
GRADWIRE_HD float unit_value(std::uint32_t code, int bits) {
  const double top = static_cast<double>((1u << bits) - 1);
  return static_cast<float>(2.0 * static_cast<double>(code) / top - 1.0);
}

/// LinearQuant(x, step) = clip(rint(x / step) step, min, max) with min = -2^(k-1) step and max =
/// (2^(k-1) - 1) step; the quotient is one division. code = rint(x / step) + 2^(k-1).
GRADWIRE_HD std::uint32_t step_code(float value, float step, int bits) {
  const float half = static_cast<float>(1u << (bits - 1));
  float level = rintf(value / step);
  level = level < -half ? -half : level > half - 1.0f ? half - 1.0f : level;
  return static_cast<std::uint32_t>(level + half);
}
GRADWIRE_HD float step_value(std::uint32_t code, float step, int bits) {
  const int level = static_cast<int>(code) - (1 << (bits - 1));
  return static_cast<float>(level) * step;
}

/// Stochastic binarisation: +1 iff u < (x + 1) / 2 with u = k 2^-24, k = word >> 8. Exact: both
/// k - 2^23 and x 2^23 are binary32 numbers (or the latter is infinite). Unbiased on [-1, 1], on a
/// grid of 2^-24 in probability.
GRADWIRE_HD std::uint32_t binary_draw(float value, std::uint32_t word) {
  const float draw = static_cast<float>(word >> 8) - 8388608.0f;
  return draw < value * 8388608.0f ? 1u : 0u;
}

}  // namespace gradwire::compressors
