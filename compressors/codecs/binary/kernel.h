#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codec.h"

/// One bit an element, LSB first, ceil(n / 8) bytes, unused bits 0. Both return the largest
/// magnitude bits. Every instruction set gives the same bits. No alignment is required.
namespace gradwire::compressors::kernels {

/// Bit i = 1 iff not values[i] < 0.
std::uint32_t positive_bits(const float* values, std::size_t n, std::byte* bits);
/// Bit i = binary_draw(values[i], its word); value i takes the draw of element begin + i.
std::uint32_t drawn_bits(const float* values, std::size_t n, const Draws& draws, std::size_t begin,
                         std::byte* bits);

}  // namespace gradwire::compressors::kernels
