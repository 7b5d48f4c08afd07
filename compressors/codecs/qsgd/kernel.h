#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codec.h"
#include "compressors/codecs/qsgd/arithmetic.h"
#include "compressors/kernels/levels.h"
#include "compressors/kernels/output.h"

/// Inner loops of `qsgd`, as those of compressors/kernels/levels.h. Every instruction set gives the
/// same bits. No alignment is required; buffers do not overlap.
namespace gradwire::compressors::kernels {

/// codes[i] = sign << (bits - 1) | level in grids[i / bucket], the sign of level 0 being 0.
/// levels < 2^(bits - 1).
void norm_codes(const float* values, std::size_t n, const NormGrid* grids, std::size_t bucket,
                int bits, const Draws& draws, std::size_t begin, std::uint8_t* codes);
/// levels[i] = signed_norm_level(values[i]).
void signed_norm_levels(const float* values, std::size_t n, const NormGrid& grid,
                        const Draws& draws, std::size_t begin, std::int32_t* levels);

/// Decoded = norm_level_value of sign and level, as norm_codes makes them of `bits`; the codes may
/// be packed wider.
void norm_values(const PackedCodes& codes, std::size_t n, const NormGrid& grid, int bits,
                 Output output, float factor, float* values);

}  // namespace gradwire::compressors::kernels
