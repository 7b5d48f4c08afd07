#pragma once
#include <cstdint>

#include "compressors/arithmetic/bits.h"
#include "compressors/codecs/natural/arithmetic.h"

/// Natural dithering (Horvath et al., arXiv 1905.10988), shared by CPU and CUDA; it rounds as
/// natural compression does, and can send its norm through it. A word w gives u = (w >> 8) 2^-24.
namespace gradwire::compressors {

/// Levels 0 and norm 2^(j - s) for j = 1 .. s, where norm >= every |x|.
///
///   y = |x| 2^(s - 1) / norm                     in [0, 2^(s - 1)]
///   y < 1:   j = [u < p],   p = fl(1 + y) - 1    which is y to 2^-24
///   y >= 1:  y = 2^e (1 + m),  j = 1 + e + [u < m]
///
/// The quotient is a product with a reciprocal, which is raised by one unit in the last place where
/// the norm itself would stay below the top level. Norms beyond 2^60 or below 2^-60 are scaled by a
/// power of two first, so that neither overflows nor is subnormal. Levels: 1 <= s <= 63.
struct DitherRule {
  float lift;
  float inverse;  ///< 2^(s - 1) / (norm lift); 0 for norm 0
  float top;      ///< 2^(s - 1)
};

GRADWIRE_HD DitherRule dither_rule(float norm, int levels) {
  DitherRule rule{norm < 0x1p-60f  ? 0x1p64f
                  : norm > 0x1p60f ? 0x1p-64f
                                   : 1.0f,
                  0.0f, normal_power_of_two(levels - 1)};
  if (!(norm > 0.0f)) return rule;
  const float scaled = norm * rule.lift;
  rule.inverse = 1.0f / scaled * rule.top;
  if (scaled * rule.inverse < rule.top) rule.inverse = float_of(bits_of(rule.inverse) + 1);
  return rule;
}

GRADWIRE_HD std::uint32_t dither_level(std::uint32_t magnitude, std::uint32_t word,
                                       DitherRule rule) {
  const float product = float_of(magnitude) * rule.lift * rule.inverse;
  const float y = product < rule.top ? product : rule.top;
  const bool small = y < 1.0f;
  const std::uint32_t bits = bits_of(small ? y + 1.0f : y);
  return ((bits + natural_carry(word)) >> 23) - (small ? 127u : 126u);
}

/// sign << (bits - 1) | level; 0 for level 0, whatever the sign.
GRADWIRE_HD std::uint32_t dither_code(float value, std::uint32_t word, DitherRule rule, int bits) {
  const std::uint32_t level = dither_level(magnitude_bits(value), word, rule);
  return level == 0 ? 0u : (bits_of(value) >> 31) << (bits - 1) | level;
}

/// `code` as above; a level above `levels` means nothing.
GRADWIRE_HD float dither_value(std::uint32_t code, float norm, int levels, int bits) {
  const std::uint32_t level = code & ((1u << (bits - 1)) - 1);
  if (level == 0) return 0.0f;
  const float value = normal_power_of_two(static_cast<int>(level) - levels) * norm;
  return code >> (bits - 1) != 0 ? -value : value;
}

/// The norm's own draw, for sending it through C_nat: a stream that no tensor's elements use, since
/// workers count from 0.
inline constexpr std::uint32_t kNormWorkerBit = 0x80000000u;

}  // namespace gradwire::compressors
