#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codec.h"
#include "compressors/codecs/natural/arithmetic.h"
#include "compressors/kernels/output.h"

/// Inner loops of natural compression. Every instruction set gives the bits of arithmetic.h;
/// element i takes the draw of element begin + i. No alignment is required.
namespace gradwire::compressors::kernels {

/// 9-bit codes, LSB first, ceil(9 n / 8) bytes, unused bits 0. Returns the largest magnitude bits.
std::uint32_t natural_codes9(const float* values, std::size_t n, const Draws& draws,
                             std::size_t begin, std::byte* codes);
/// Decoded = factor * value of code i. Returns the largest exponent field: 255 means nothing
/// finite.
std::uint32_t natural_values9(const std::byte* codes, std::size_t n, Output output, float factor,
                              float* values);

/// n bytes; `lowest` as natural_code8 takes it. Returns the largest magnitude bits.
std::uint32_t natural_codes8(const float* values, std::size_t n, const Draws& draws,
                             std::size_t begin, std::uint32_t lowest, std::byte* codes);
void natural_values8(const std::byte* codes, std::size_t n, std::uint32_t lowest, Output output,
                     float factor, float* values);

}  // namespace gradwire::compressors::kernels
