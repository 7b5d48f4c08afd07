#pragma once
#include <cstddef>

#include "compressors/arithmetic/lowbit.h"

namespace gradwire::compressors::kernels {

/// <|v|, q> and <q, q> over one block of n <= kSumBlock values, q = the magnitude of v's level: the
/// former in the order of compressors/ordered_sum.h (not finite if a value is not), the latter
/// exact. Every instruction set gives the same bits.
LowbitProducts lowbit_products(const float* values, std::size_t n,
                               const LowbitThresholds& thresholds, const LowbitTable& table);

}  // namespace gradwire::compressors::kernels
