#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codecs/rowquant/arithmetic.h"
#include "compressors/kernels/levels.h"
#include "compressors/kernels/output.h"

/// Inner loops of `rowquant`, as those of compressors/kernels/levels.h. Every instruction set gives
/// the same bits. No alignment is required; buffers do not overlap.
namespace gradwire::compressors::kernels {

/// largest[c] = max(largest[c], magnitude bits of values[c]).
void raise_magnitudes(const float* values, std::size_t n, std::uint32_t* largest);

/// codes[i] = min(max(rint(values[i] inverses[i]), -half), half - 1) + half.
void scaled_codes(const float* values, const float* inverses, std::size_t n, float half,
                  std::uint8_t* codes);
/// Decoded = scale (2 codes[i] - top) / top, the quotient as a product with fl(1 / top).
void symmetric_values(const PackedCodes& codes, std::size_t n, float scale, float top,
                      Output output, float factor, float* values);
/// Decoded = (codes[i] - half) / half * scales[i]; half is a power of two.
void scaled_values(const PackedCodes& codes, const float* scales, std::size_t n, float half,
                   Output output, float factor, float* values);

}  // namespace gradwire::compressors::kernels
