#pragma once
#include <cstdint>

#include "base/host_device.h"

/// The draws of `binary` (arXiv 1609.07061), for the host and the device.
namespace gradwire::compressors {

/// Stochastic binarisation: +1 iff u < (x + 1) / 2 with u = k 2^-24, k = word >> 8. Exact: both
/// k - 2^23 and x 2^23 are binary32 numbers (or the latter is infinite). Unbiased on [-1, 1], on a
/// grid of 2^-24 in probability.
GRADWIRE_HD std::uint32_t binary_draw(float value, std::uint32_t word) {
  const float draw = static_cast<float>(word >> 8) - 8388608.0f;
  return draw < value * 8388608.0f ? 1u : 0u;
}

}  // namespace gradwire::compressors
