#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codec.h"
#include "compressors/codecs/dither/arithmetic.h"
#include "compressors/kernels/levels.h"
#include "compressors/kernels/output.h"

/// Inner loops of natural dithering. Every instruction set gives the bits of arithmetic.h; element
/// i takes the draw of element begin + i. No alignment is required.
namespace gradwire::compressors::kernels {

/// One byte a code of `bits` bits.
void dither_codes(const float* values, std::size_t n, const Draws& draws, std::size_t begin,
                  DitherRule rule, int bits, std::uint8_t* codes);
/// Decoded = dither_value(codes[i]); 2 to 7 bits, low bits first. Returns the largest level.
std::uint32_t dither_values(const PackedCodes& codes, std::size_t n, float norm, int levels,
                            Output output, float factor, float* values);

}  // namespace gradwire::compressors::kernels
