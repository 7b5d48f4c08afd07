#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/arithmetic/natural.h"
#include "compressors/codec.h"
#include "compressors/kernels/levels.h"
#include "compressors/kernels/output.h"

/// Inner loops of natural compression and dithering. Every instruction set gives the bits of
/// arithmetic/natural.h; element i takes the draw of element begin + i. No alignment is required.
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

/// One byte a code of `bits` bits.
void dither_codes(const float* values, std::size_t n, const Draws& draws, std::size_t begin,
                  DitherRule rule, int bits, std::uint8_t* codes);
/// Decoded = dither_value(codes[i]); 2 to 7 bits, low bits first. Returns the largest level.
std::uint32_t dither_values(const PackedCodes& codes, std::size_t n, float norm, int levels,
                            Output output, float factor, float* values);

}  // namespace gradwire::compressors::kernels
