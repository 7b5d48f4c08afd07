#pragma once
#include <cstdint>

#include "base/host_device.h"

/// Codes 0, 1, 2 at five a byte, the first least significant: c0 + 3 c1 + 9 c2 + 27 c3 + 81 c4.
/// Shared by CPU and CUDA.
namespace gradwire::compressors {

inline constexpr std::uint32_t kTritsInByte = 5;
inline constexpr std::uint32_t kLargestTritByte = 242;  ///< five codes of 2

GRADWIRE_HD constexpr std::uint32_t trit_power(std::uint32_t i) {
  return i == 0 ? 1u : i == 1 ? 3u : i == 2 ? 9u : i == 3 ? 27u : 81u;
}

/// Code i < 5 of a byte <= kLargestTritByte.
GRADWIRE_HD constexpr std::uint32_t trit_of(std::uint32_t byte, std::uint32_t i) {
  return byte / trit_power(i) % 3u;
}

}  // namespace gradwire::compressors
