#pragma once
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// The arithmetic of the ternary code of least error: keep the k largest |g| with their signs, at
/// the one magnitude E = c_k / k, where c_k is their sum and k maximises c_k^2 / k, so that
/// ||g - Q||^2 = ||g||^2 - c_k^2 / k is least (methods of arXiv 2208.05631; Li, Zhang, Liu, arXiv
/// 1605.04711). Elements of equal magnitude are kept or dropped together: within a run of them the
/// gain is convex in k, so that its maximum is at an end of the run.
namespace gradwire::compressors {

inline constexpr std::uint32_t kKeepNothing = kInfinityBits;

GRADWIRE_HD std::uint32_t mantissa_of(std::uint32_t magnitude) {
  const std::uint32_t fraction = magnitude & 0x7FFFFFu;
  return magnitude >> 23 == 0 ? fraction : fraction | 0x800000u;
}

/// What mantissas of one exponent field, added up as integers, stand for.
GRADWIRE_HD double scaled_mantissas(std::uint32_t exponent, std::uint64_t mantissas) {
  const std::uint64_t field = (exponent == 0 ? 1u : exponent) + (1023u - 150u);
  return static_cast<double>(mantissas) * double_of(field << 52);
}

/// c^2 / k, 0 for k = 0.
GRADWIRE_HD double threshold_gain(double sum, std::uint64_t count) {
  return count == 0 ? 0.0 : sum * sum / static_cast<double>(count);
}

/// c / k, k > 0.
GRADWIRE_HD float threshold_level(double sum, std::uint64_t count) {
  return static_cast<float>(sum / static_cast<double>(count));
}

/// c as values are added by falling magnitude. Mantissas of one exponent add up as integers,
/// exactly (up to 2^40 values), so that neither the order in which a tensor is read nor the way in
/// which its values are grouped shows; exponents add up in double, the largest first.
class DescendingSum {
 public:
  /// `count` values with that exponent field (not above the last one's) and sum of mantissas.
  void add(std::uint32_t exponent, std::uint64_t count, std::uint64_t mantissas) {
    if (exponent != exponent_) {
      above_ = sum();
      exponent_ = exponent;
      mantissas_ = 0;
    }
    mantissas_ += mantissas;
    count_ += count;
  }
  double sum() const { return above_ + scaled(exponent_, mantissas_); }
  std::uint64_t count() const { return count_; }
  /// c^2 / k: what is taken off the squared error. 0 before the first value.
  double gain() const { return threshold_gain(sum(), count_); }

  static double scaled(std::uint32_t exponent, std::uint64_t mantissas) {
    return scaled_mantissas(exponent, mantissas);
  }

 private:
  double above_ = 0;
  std::uint32_t exponent_ = 255;
  std::uint64_t mantissas_ = 0, count_ = 0;
};

/// Values whose magnitude bits reach `lowest` are sent as +-level.
struct TernaryThreshold {
  std::uint32_t lowest = kKeepNothing;
  std::uint64_t count = 0;
  double gain = 0;
  float level = 0;

  /// Takes `kept`, the sum of all values from `candidate` on, if it gains more.
  void offer(std::uint32_t candidate, const DescendingSum& kept) {
    const double gained = kept.gain();
    if (!(gained > gain)) return;
    *this = {candidate, kept.count(), gained, threshold_level(kept.sum(), kept.count())};
  }
};

/// The value of a code: 0 = zero, 1 = +, 2 = -.
GRADWIRE_HD float threshold_value(std::uint32_t code, float level) {
  return code == 0 ? 0.0f : code == 1 ? level : -level;
}

/// 0 = zero, 1 = +, 2 = -.
GRADWIRE_HD std::uint32_t threshold_code(float value, std::uint32_t lowest) {
  const std::uint32_t bits = bits_of(value);
  return (bits & 0x7FFFFFFFu) < lowest ? 0u : 1u + (bits >> 31);
}

}  // namespace gradwire::compressors
