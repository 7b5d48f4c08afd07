#pragma once
#include <cmath>
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// Uniform levels on +-max|g| with a dead zone: 0, +-D, +-2D, ... +-top D with D = max|g| / top,
/// shared by CPU and CUDA. |g| / D below `dead_zone` becomes 0, anything else the nearest level
/// (ties to even) from 1 to top.
namespace gradwire::compressors {

struct DeadZoneGrid {
  float step = 0;     ///< D, what the payload says
  float lift = 1;     ///< a power of two that keeps 1 / D a normal number
  float inverse = 0;  ///< fl(top / (lift max|g|))
  float dead_zone = 0.5f;
  float top = 1;
};

GRADWIRE_HD DeadZoneGrid dead_zone_grid(float largest, int top, float dead_zone) {
  DeadZoneGrid grid;
  grid.top = static_cast<float>(top);
  grid.dead_zone = dead_zone;
  if (!(largest > 0.0f)) return grid;
  grid.lift = largest < 0x1p-60f ? 0x1p64f : largest > 0x1p60f ? 0x1p-64f : 1.0f;
  grid.inverse = grid.top / (largest * grid.lift);
  grid.step = largest / grid.top;
  if (grid.step * grid.top > float_of(kInfinityBits - 1))  // the last level would be infinite
    grid.step = float_of(bits_of(grid.step) - 1);
  return grid;
}

/// 0 = level 0, 2 m - 1 = level m, 2 m = level -m.
GRADWIRE_HD std::uint32_t dead_zone_code(float value, const DeadZoneGrid& grid) {
  const float scaled = float_of(magnitude_bits(value)) * grid.lift * grid.inverse;
  if (scaled < grid.dead_zone) return 0;
  float level = rintf(scaled);
  level = level < 1.0f ? 1.0f : level > grid.top ? grid.top : level;
  return 2 * static_cast<std::uint32_t>(level) - (value < 0.0f ? 0u : 1u);
}

GRADWIRE_HD float dead_zone_value(std::uint32_t code, float step) {
  const float magnitude = static_cast<float>((code + 1) / 2) * step;
  return code % 2 == 0 && code != 0 ? -magnitude : magnitude;
}

}  // namespace gradwire::compressors
