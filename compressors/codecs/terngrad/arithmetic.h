#pragma once
#include <cmath>
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// TernGrad's arithmetic (Wen et al., arXiv 1705.07878), shared by CPU and CUDA.
///
///   sigma^2 = mean((g - mean g)^2)            population form, about the mean
///   s       = min(max|g|, clip * sigma)       = max|g| after clipping; the released code's rule
///             takes clip * sigma even where no |g| reaches it
///   t       = sign(g) with probability min(1, |g| / s), else 0
///
/// The draw k = w >> 8 (24 bits) keeps the sign iff fl(k * s 2^-24) < |g|, all in binary32: one
/// exact conversion and one rounded product, no division; |g| >= s always keeps it, since
/// fl((1 - 2^-24) s) < s for every normal s. Below 2^-60 both sides are lifted by 2^64, exactly,
/// so that no product is subnormal. P(keep) differs from |g| / s by less than 2^-23.
namespace gradwire::compressors {

struct TernaryRule {
  float unit;  ///< lifted s * 2^-24; infinite where s = 0, which keeps nothing
  float lift;
};

GRADWIRE_HD TernaryRule ternary_rule(float scale) {
  const float lift = scale < 0x1p-60f ? 0x1p64f : 1.0f;
  const float unit = scale > 0.0f ? scale * lift * 0x1p-24f : float_of(kInfinityBits);
  return TernaryRule{unit, lift};
}

/// `draw` = u * 2^24. Returns t in {-1, 0, 1}.
GRADWIRE_HD int ternary_term(float value, float draw, TernaryRule rule) {
  const float magnitude = float_of(magnitude_bits(value));
  if (!(draw * rule.unit < magnitude * rule.lift)) return 0;
  return value < 0.0f ? -1 : 1;
}

GRADWIRE_HD float ternary_draw(std::uint32_t word) {
  return static_cast<float>(word >> 8);
}

/// The value of code t + 1, of a scale or of factor times a scale: the zero has the sign of
/// -scale, as a product.
GRADWIRE_HD float ternary_value(std::uint32_t code, float scale) {
  return static_cast<float>(static_cast<int>(code) - 1) * scale;
}

/// clip * sigma, or 0 where that means nothing: without clipping, and for a constant tensor.
/// `sum` and `sum_squares` are over d = g - g[0], in double. Taking them about the first element
/// costs one pass instead of two and loses nothing: (g[0] - mean)^2 <= n sigma^2, so cancellation
/// is at most n double roundings; a constant tensor gives exactly 0.
GRADWIRE_HD float ternary_bound(double sum, double sum_squares, std::uint64_t n, double clip) {
  if (!(clip > 0.0) || n == 0) return 0.0f;
  const double count = static_cast<double>(n);
  const double variance = (sum_squares - sum * sum / count) / count;
  if (!(variance > 0.0)) return 0.0f;
  const double bound = clip * sqrt(variance);
  return bound < 3.4028234e38 ? static_cast<float>(bound) : 3.4028234e38f;
}

/// The paper's scale. A bound of 0 does not clip: clipping to 0 would erase the tensor.
GRADWIRE_HD float ternary_scale(double sum, double sum_squares, float largest, std::uint64_t n,
                                double clip) {
  const float bound = ternary_bound(sum, sum_squares, n, clip);
  return bound > 0.0f && bound < largest ? bound : largest;
}

/// The released code's scale: clip * sigma itself, where it means something.
GRADWIRE_HD float ternary_released_scale(double sum, double sum_squares, float largest,
                                         std::uint64_t n, double clip) {
  const float bound = ternary_bound(sum, sum_squares, n, clip);
  return bound > 0.0f ? bound : largest;
}

}  // namespace gradwire::compressors
