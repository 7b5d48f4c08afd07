#pragma once
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// AP2(x) = sign(x) 2^rint(log2|x|), AP2(0) = 0 (Hubara et al., arXiv 1609.07061), from the bits of
/// x: rint(log2(m 2^e)), 1 <= m < 2, is e + 1 iff m > sqrt 2, which no binary32 number equals.
/// Shared by CPU and CUDA.
namespace gradwire::compressors {

inline constexpr std::uint32_t kAboveSqrtTwo = 0x3504F4u;  ///< fraction of the first float above it
inline constexpr std::uint32_t kPowerRounding = 0x800000u - kAboveSqrtTwo;

/// log2 of AP2, -149 to 128. Precondition: magnitude bits of a finite number other than 0.
GRADWIRE_HD int power_of_two_exponent(std::uint32_t magnitude) {
  if (magnitude >= 0x800000u) return static_cast<int>((magnitude + kPowerRounding) >> 23) - 127;
  const std::uint32_t scaled = bits_of(static_cast<float>(magnitude));  // a subnormal times 2^149
  return static_cast<int>((scaled + kPowerRounding) >> 23) - 127 - 149;
}

/// 2^exponent, 0 below 2^-149. Precondition: exponent <= 127.
GRADWIRE_HD float power_of_two(int exponent) {
  if (exponent >= -126) return float_of(static_cast<std::uint32_t>(exponent + 127) << 23);
  return exponent >= -149 ? float_of(1u << (exponent + 149)) : 0.0f;
}

inline constexpr int kLogLargest = 127;    ///< the largest power of two that is finite
inline constexpr int kLogSmallest = -128;  ///< the smallest that an i8 can say
inline constexpr int kLogLevels = 31;

/// The payload's emax for a tensor's largest magnitude bits; 0 for a tensor of zeros.
GRADWIRE_HD int log_largest_exponent(std::uint32_t magnitude) {
  if (magnitude == 0) return 0;
  const int exponent = power_of_two_exponent(magnitude);
  return exponent > kLogLargest ? kLogLargest : exponent < kLogSmallest ? kLogSmallest : exponent;
}

/// Bit 5 = sign; low bits 0 = zero, c = 1..31: 2^(emax - (c - 1)). Smaller values become 0.
GRADWIRE_HD std::uint32_t log_code(float value, int emax) {
  const std::uint32_t magnitude = magnitude_bits(value);
  if (magnitude == 0) return 0;
  const int exponent = power_of_two_exponent(magnitude);
  const int code = exponent > emax ? 1 : emax - exponent + 1;
  if (code > kLogLevels) return 0;
  return static_cast<std::uint32_t>(code) | (bits_of(value) >> 31) << 5;
}

GRADWIRE_HD float log_value(std::uint32_t code, int emax) {
  const std::uint32_t level = code & 31u;
  const float magnitude = level == 0 ? 0.0f : power_of_two(emax - static_cast<int>(level - 1));
  return (code & 32u) != 0 ? -magnitude : magnitude;
}

}  // namespace gradwire::compressors
