#pragma once
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// Evenly spaced levels between two ends, shared by CPU and CUDA: `minmax` (CGX, arXiv 2111.08617),
/// `int8` (arXiv 2111.09389) and `rowquant`'s symmetric grid.
///
///   unit  = (largest - smallest) / top            in double, rounded once to binary32
///   a     = fl(fl(x - smallest) * inverse)        inverse = top / (largest - smallest)
///   level = floor(fl(a + 0.5)), rint(a), or floor(a) + [k 2^-24 < frac a] with k = w >> 8
///   value = fl(smallest + fl(unit * level))
///
/// A product takes the place of the division; `inverse` is raised by the few ulps that let the
/// largest value reach `top`, so both ends are sent with certainty under any rounding.
///
/// Units below 2^-100 or above 2^100 (`wide`) go through double instead, where nothing overflows or
/// vanishes. A unit that binary32 holds only as a subnormal is rounded up: `top` levels still span
/// the range, and a bucket is never collapsed to its smallest value, as a fixed lower limit on the
/// unit would.
namespace gradwire::compressors {

inline constexpr std::uint32_t kLargestTop = 255;  ///< levels fit a byte

enum class LevelRounding {
  kHalfUp,      ///< floor(a + 1/2)
  kHalfToEven,  ///< rint(a)
  kDrawn,       ///< up iff u < frac a: unbiased
};

struct LevelGrid {
  float origin;   ///< the value of level 0
  float unit;     ///< distance of two levels; infinite: no binary32 number is large enough
  float inverse;  ///< levels for a distance of 1; 0 where all values are equal
  float top;      ///< the largest level
  bool wide;      ///< use the functions that go through double
};

GRADWIRE_HD bool is_wide_unit(float unit) {
  return unit > 0x1p100f || (unit < 0x1p-100f && unit > 0.0f);
}

/// range / top, rounded to nearest; upwards where a rounding error would be seen.
GRADWIRE_HD float level_unit(double range, double top) {
  const float unit = static_cast<float>(range / top);
  if (!is_wide_unit(unit) && !(unit == 0.0f && range > 0.0)) return unit;
  return static_cast<double>(unit) * top < range ? float_of(bits_of(unit) + 1) : unit;
}

/// Preconditions: both finite, smallest <= largest, 1 <= top <= kLargestTop.
GRADWIRE_HD LevelGrid level_grid(float smallest, float largest, std::uint32_t top) {
  const double range = static_cast<double>(largest) - static_cast<double>(smallest);
  LevelGrid grid{smallest, level_unit(range, top), 0.0f, static_cast<float>(top), false};
  grid.wide = is_wide_unit(grid.unit);
  if (range > 0.0 && !grid.wide) {
    const float distance = largest - smallest;
    grid.inverse = static_cast<float>(top / range);
    while (distance * grid.inverse < grid.top) grid.inverse = float_of(bits_of(grid.inverse) + 1);
  }
  return grid;
}

/// The grid of a decoder, which knows the two header fields alone.
GRADWIRE_HD LevelGrid level_grid_from_unit(float origin, float unit, std::uint32_t top) {
  return LevelGrid{origin, unit, 0.0f, static_cast<float>(top), is_wide_unit(unit)};
}

/// floor(scaled 2^-24) + [draw < frac]: `scaled` in [0, 2^32) is a number of levels times 2^24,
/// `draw` = w >> 8 one of 2^24 draws.
GRADWIRE_HD std::uint32_t drawn_level(float scaled, std::uint32_t draw) {
  const std::uint32_t level = static_cast<std::uint32_t>(scaled * 0x1p-24f);
  const float rest = scaled - static_cast<float>(level) * 0x1p24f;  // exact
  return level + (static_cast<float>(draw) < rest ? 1u : 0u);
}

GRADWIRE_HD std::int32_t round_half_to_even(float a) {  // |a| < 2^22
  const float rounded = (a + 0x1.8p23f) - 0x1.8p23f;
  return static_cast<std::int32_t>(rounded);
}

/// Rounds a number of levels in double; values within 2^-20 of a level are on it, so that the
/// rounded unit does not move the ends.
GRADWIRE_HD std::uint32_t wide_round(double a, double top, LevelRounding rounding,
                                     std::uint32_t draw) {
  if (a > top) a = top;
  const std::uint32_t below = static_cast<std::uint32_t>(a);
  const double rest = a - below;
  if (rest < 0x1p-20) return below;
  if (rest > 1.0 - 0x1p-20) return below + 1;
  if (rounding == LevelRounding::kDrawn) return below + (draw < rest * 0x1p24 ? 1u : 0u);
  const bool up = rest > 0.5 || (rest == 0.5 && (rounding == LevelRounding::kHalfUp || below % 2));
  return below + (up ? 1u : 0u);
}

/// The level of a finite value between the grid's ends. `draw` matters for kDrawn alone.
GRADWIRE_HD std::uint32_t level_of(float value, const LevelGrid& grid, LevelRounding rounding,
                                   std::uint32_t draw) {
  if (grid.wide) {
    const double distance = static_cast<double>(value) - static_cast<double>(grid.origin);
    return wide_round(distance / grid.unit, grid.top, rounding, draw);
  }
  const float distance = value - grid.origin;
  if (rounding == LevelRounding::kHalfUp)
    return static_cast<std::uint32_t>(distance * grid.inverse + 0.5f);
  if (rounding == LevelRounding::kHalfToEven)
    return static_cast<std::uint32_t>(round_half_to_even(distance * grid.inverse));
  const float scaled = distance * (grid.inverse * 0x1p24f), largest = grid.top * 0x1p24f;
  return drawn_level(scaled < largest ? scaled : largest, draw);
}

GRADWIRE_HD float level_value(std::uint32_t level, const LevelGrid& grid) {
  if (!grid.wide) return grid.origin + grid.unit * static_cast<float>(level);
  const double value = static_cast<double>(grid.origin) + static_cast<double>(grid.unit) * level;
  const double largest = 3.4028234663852886e38;  // the rounded-up unit may lead just beyond it
  return static_cast<float>(value < largest ? value : largest);
}

}  // namespace gradwire::compressors
