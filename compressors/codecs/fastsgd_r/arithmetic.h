#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compressors/arithmetic/bits.h"

/// Levels M b^-q, q = 0 ... tau, of magnitudes, without a logarithm: each level has a least
/// magnitude, found with multiplications, divisions and square roots in double (all correctly
/// rounded, so the same everywhere), and a magnitude takes the first level whose least it reaches.
namespace gradwire::compressors {

inline constexpr int kMostLogLevels = 4096;

enum class LogRounding {
  kLog,     ///< q = round(log_b(M / |g|)): least magnitude M b^-(q + 1/2)
  kLinear,  ///< the nearest level: least magnitude M (b^-q + b^-(q+1)) / 2
};

/// powers[q] = b^-q for q = 0 ... size - 1, each a quotient of the one before.
inline void log_powers(double base, std::span<double> powers) {
  double power = 1.0;
  for (double& p : powers) {
    p = power;
    power /= base;
  }
}

/// The level's value, rounded to a float once.
GRADWIRE_HD float log_value(double scale, double power) {
  return static_cast<float>(scale * power);
}

/// A level's least magnitude, as a multiple of its value.
inline double log_least_factor(double base, LogRounding rounding) {
  return rounding == LogRounding::kLog ? 1.0 / std::sqrt(base) : 0.5 + 0.5 / base;
}

/// The least magnitude of level q as float bits, rounded up, and at least those of the smallest
/// number that is not 0: so magnitude_bits(g) >= log_least() says just that |g| reaches it.
inline std::uint32_t log_least(double scale, double power, double factor) {
  const double least = scale * power * factor;
  const auto nearest = static_cast<float>(least);
  const std::uint32_t bits = bits_of(nearest) + (double{nearest} < least ? 1u : 0u);
  return bits == 0 ? 1u : bits;
}

/// The first level whose least magnitude is reached, by halving; `least` descends. Precondition:
/// the last one is reached.
GRADWIRE_HD std::uint32_t log_level(std::uint32_t magnitude, const std::uint32_t* least,
                                    std::uint32_t levels) {
  std::uint32_t first = 0, last = levels - 1;  // the answer is in [first, last]
  while (first < last) {
    const std::uint32_t middle = (first + last) / 2;
    if (magnitude >= least[middle])
      last = middle;
    else
      first = middle + 1;
  }
  return first;
}

}  // namespace gradwire::compressors
