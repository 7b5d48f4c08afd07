#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codec.h"
#include "compressors/codecs/terngrad/arithmetic.h"
#include "compressors/kernels/output.h"

/// TernGrad's inner loops. Every instruction set gives the same bits. No alignment is required.
namespace gradwire::compressors::kernels {

/// Codes t + 1 of n elements at 2 bits, ceil(n / 4) bytes, unused bits 0; element i takes the draw
/// of element begin + i. Returns the largest magnitude bits.
std::uint32_t ternary_codes(const float* values, std::size_t n, const Draws& draws,
                            std::size_t begin, TernaryRule rule, std::byte* codes);

/// Decoded = scale * t. Returns true if a code of the n is 3, which means nothing (its value here:
/// 2 scale).
bool ternary_values(const std::byte* codes, std::size_t n, float scale, Output output,
                    float* values);

}  // namespace gradwire::compressors::kernels
