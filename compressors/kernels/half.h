#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/kernels/output.h"

/// 16-bit floats, little-endian. Every instruction set gives the bits of arithmetic/half.h and
/// arithmetic/bfloat.h. No alignment is required; buffers do not overlap.
namespace gradwire::compressors::kernels {

enum class HalfFormat { kBinary16, kBfloat16 };

/// Half i = factor * value i, the product rounded first; 2 n bytes, past the caches if `streamed`.
/// An overflow is infinite. Returns the largest magnitude bits of the input, before the factor.
std::uint32_t to_half(const float* values, std::size_t n, HalfFormat format, float factor,
                      bool streamed, std::byte* halves);
/// Decoded = factor * half i; the product is rounded before it is added.
void from_half(const std::byte* halves, std::size_t n, HalfFormat format, Output output,
               float factor, float* values);

}  // namespace gradwire::compressors::kernels
