#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codecs/lowbit/arithmetic.h"

namespace gradwire::compressors::kernels {

/// <|v|, q> and <q, q> over one block of n <= kSumBlock values, q = the magnitude of v's level: the
/// former in the order of compressors/ordered_sum.h (not finite if a value is not), the latter
/// exact. Every instruction set gives the same bits.
LowbitProducts lowbit_products(const float* values, std::size_t n,
                               const LowbitThresholds& thresholds, const LowbitTable& table);

/// codes[i] = lowbit_code(values[i], thresholds, middle), one byte each. Returns the largest
/// magnitude bits, for the caller to refuse values that are not finite.
std::uint32_t lowbit_codes(const float* values, std::size_t n, const LowbitThresholds& thresholds,
                           int middle, std::uint8_t* codes);

}  // namespace gradwire::compressors::kernels
