#pragma once
#include <bit>
#include <cstdint>

#include "base/host_device.h"

/// The bits of a binary32 number, on the host and on the device.
namespace gradwire::compressors {

inline constexpr std::uint32_t kInfinityBits = 0x7F800000u;

GRADWIRE_HD std::uint32_t bits_of(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  return std::bit_cast<std::uint32_t>(value);
#endif
}

GRADWIRE_HD float float_of(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

GRADWIRE_HD double double_of(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

/// Ordered like |value|; kInfinityBits or above means infinite or NaN.
GRADWIRE_HD std::uint32_t magnitude_bits(float value) {
  return bits_of(value) & 0x7FFFFFFFu;
}

GRADWIRE_HD bool is_finite(float value) {
  return magnitude_bits(value) < kInfinityBits;
}
/// Finite, and no sign bit set.
GRADWIRE_HD bool is_scale(float value) {
  return bits_of(value) < kInfinityBits;
}

/// 2^exponent for exponents of normal numbers.
GRADWIRE_HD float normal_power_of_two(int exponent) {
  return float_of(static_cast<std::uint32_t>(exponent + 127) << 23);
}

}  // namespace gradwire::compressors
