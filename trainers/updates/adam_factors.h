#pragma once
#include <cmath>
#include <cstdint>

namespace gradwire::trainers {

/// beta^steps by repeated multiplication: the same on every machine, unlike pow.
inline double power_of(double beta, std::int64_t steps) {
  double product = 1;
  for (; steps > 0; steps >>= 1, beta *= beta) {
    if (steps & 1) product *= beta;
  }
  return product;
}

/// The bias corrections at step `steps` >= 1: rate / (1 - b1^steps) and 1 / sqrt(1 - b2^steps).
struct AdamFactors {
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.999;  ///< of Kingma and Ba, the default
  float rate;
  float root;
};
inline AdamFactors adam_factors(double rate, std::int64_t steps, double beta1 = AdamFactors::kBeta1,
                                double beta2 = AdamFactors::kBeta2) {
  return {static_cast<float>(rate / (1 - power_of(beta1, steps))),
          static_cast<float>(1 / std::sqrt(1 - power_of(beta2, steps)))};
}

}  // namespace gradwire::trainers
