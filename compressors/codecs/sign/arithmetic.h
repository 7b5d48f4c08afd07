#pragma once
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// Block-sign's arithmetic (COMP-AMS, arXiv 2205.05632; signSGD, arXiv 1802.04434), shared by CPU
/// and CUDA:  C(x)_B = sign(x_B) ||x_B||_1 / d_B,  sign(0) = sign(-0) = +1.
namespace gradwire::compressors {

/// 1 = negative.
GRADWIRE_HD std::uint32_t sign_bit(float value) {
  return value < 0.0f ? 1u : 0u;
}

/// mu from the ordered sum of |x| in double: one division, one rounding to binary32. At most the
/// largest |x|, so never infinite.
GRADWIRE_HD float block_sign_scale(double sum, std::uint64_t count) {
  return static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace gradwire::compressors
