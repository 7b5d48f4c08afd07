#pragma once
#include <cmath>
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// Natural compression (Horvath et al., arXiv 1905.10988), shared by CPU and CUDA. A word w gives u
/// = (w >> 8) 2^-24.
namespace gradwire::compressors {

inline constexpr std::uint32_t kSmallestNormalBits = 0x00800000u;
inline constexpr std::uint32_t kLargestFiniteBits = 0x7F7FFFFFu;

/// 2^23 - 1 - floor(u 2^23). A fraction m 2^-23 plus this carries iff floor(u 2^23) < m, which is
/// u < m 2^-23: stochastic rounding by one addition, exact for fractions of 23 bits.
GRADWIRE_HD std::uint32_t natural_carry(std::uint32_t word) {
  return ~word >> 9;
}

/// C_nat on the magnitude 2^(E - 127) (1 + m): the exponent field E + [u < m], at most 254, so that
/// no finite value becomes infinite. 0 for zeros and subnormals: below 2^-126 it is biased.
GRADWIRE_HD std::uint32_t natural_exponent(std::uint32_t magnitude, std::uint32_t word) {
  if (magnitude < kSmallestNormalBits) return 0;
  const std::uint32_t sum = magnitude + natural_carry(word);
  return (sum < kLargestFiniteBits ? sum : kLargestFiniteBits) >> 23;
}

/// 9 bits: sign << 8 | exponent field; 0 for zero, whatever its sign.
GRADWIRE_HD std::uint32_t natural_code9(float value, std::uint32_t word) {
  const std::uint32_t exponent = natural_exponent(magnitude_bits(value), word);
  return exponent == 0 ? 0u : (bits_of(value) >> 31) << 8 | exponent;
}
GRADWIRE_HD float natural_value9(std::uint32_t code) {
  return float_of(code << 23);
}

/// 8 bits: sign << 7 | exponent field - lowest + 1, for fields lowest .. lowest + 126. A smaller
/// field gives 0 (code 0, whatever the sign), a larger one the largest: biased outside the range.
/// 1 <= lowest <= 128.
GRADWIRE_HD std::uint32_t natural_code8(float value, std::uint32_t word, std::uint32_t lowest) {
  const std::uint32_t exponent = natural_exponent(magnitude_bits(value), word);
  if (exponent < lowest) return 0;
  const std::uint32_t code = exponent - lowest + 1;
  return (bits_of(value) >> 31) << 7 | (code < 127 ? code : 127);
}
GRADWIRE_HD float natural_value8(std::uint32_t code, std::uint32_t lowest) {
  const std::uint32_t sign = (code & 128u) << 24;
  return float_of(sign | ((code & 127u) == 0 ? 0u : ((code & 127u) + lowest - 1) << 23));
}

}  // namespace gradwire::compressors
