#pragma once
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// IEEE 754 binary16 <-> binary32, round to nearest, ties to even, subnormals kept. The bytes are
/// those of the F16C and CUDA instructions, NaN included: a NaN becomes quiet and keeps the top
/// ten bits of its payload.
namespace gradwire::compressors {

inline constexpr std::uint32_t kHalfOverflowBits = 0x477FF000u;  ///< 65520: rounds to infinity
inline constexpr std::uint16_t kHalfLargest = 0x7BFFu;           ///< 65504

GRADWIRE_HD std::uint16_t half_from_float(float value) {
  const std::uint32_t sign = (bits_of(value) >> 16) & 0x8000u;
  std::uint32_t magnitude = magnitude_bits(value);
  if (magnitude > kInfinityBits)
    return static_cast<std::uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x3FFu));
  if (magnitude >= kHalfOverflowBits) return static_cast<std::uint16_t>(sign | 0x7C00u);
  if (magnitude < 0x38800000u) {  // below 2^-14: the sum with 0.5 has the half's ulp, 2^-24
    const float shifted = float_of(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (bits_of(shifted) - bits_of(0.5f)));
  }
  magnitude += 0xFFFu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u) >> 13));
}

GRADWIRE_HD float float_from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1Fu;
  const std::uint32_t fraction = half & 0x3FFu;
  if (exponent == 31)
    return float_of(sign | kInfinityBits | (fraction << 13) | (fraction != 0 ? 0x400000u : 0u));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * (1.0f / 16777216.0f);
    return float_of(sign | bits_of(magnitude));
  }
  return float_of(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

/// The smallest half that is not below a finite magnitude; infinite beyond 65504.
GRADWIRE_HD std::uint16_t half_above(float magnitude) {
  const std::uint16_t half = half_from_float(magnitude);
  return float_from_half(half) < magnitude ? static_cast<std::uint16_t>(half + 1) : half;
}

/// With `saturate`, an overflow becomes the largest finite half instead of infinity.
GRADWIRE_HD std::uint16_t half_from_float(float value, bool saturate) {
  const std::uint16_t half = half_from_float(value);
  return saturate && (half & 0x7FFFu) == 0x7C00u ? static_cast<std::uint16_t>(half - 1) : half;
}

}  // namespace gradwire::compressors
