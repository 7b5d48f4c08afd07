#pragma once
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// bfloat16 <-> binary32: the upper half of a binary32, rounded to nearest, ties to even,
/// subnormals kept. A NaN becomes quiet and keeps the top six bits of its payload.
namespace gradwire::compressors {

inline constexpr std::uint32_t kBfloatOverflowBits = 0x7F7F8000u;  ///< rounds to infinity
inline constexpr std::uint16_t kBfloatLargest = 0x7F7Fu;           ///< (2 - 2^-7) 2^127

GRADWIRE_HD std::uint16_t bfloat_from_float(float value) {
  const std::uint32_t bits = bits_of(value);
  if (magnitude_bits(value) > kInfinityBits) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

GRADWIRE_HD float float_from_bfloat(std::uint16_t bfloat) {
  return float_of(static_cast<std::uint32_t>(bfloat) << 16);
}

/// With `saturate`, an overflow becomes the largest finite bfloat instead of infinity.
GRADWIRE_HD std::uint16_t bfloat_from_float(float value, bool saturate) {
  const std::uint16_t bfloat = bfloat_from_float(value);
  return saturate && (bfloat & 0x7FFFu) == 0x7F80u ? static_cast<std::uint16_t>(bfloat - 1)
                                                   : bfloat;
}

}  // namespace gradwire::compressors
