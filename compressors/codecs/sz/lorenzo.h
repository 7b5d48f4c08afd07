#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codecs/sz/arithmetic.h"

/// Vector loops of dual quantisation; the rules are in compressors/codecs/sz/arithmetic.h.
/// Every instruction set gives the same bits. No alignment is required; buffers do not overlap.
namespace gradwire::compressors::kernels {

/// Over n >= 1 values; the smallest and largest are meaningless if one is NaN.
struct MagnitudeRange {
  float smallest = 0, largest = 0;
  std::uint32_t max_magnitude = 0;  ///< bits; kInfinityBits or more: not finite
};
MagnitudeRange value_range(const float* values, std::size_t n);

/// codes[i] = dual_code(values[i]). Returns the largest magnitude bits of the values.
std::uint32_t dual_codes(const float* values, std::size_t n, DualGrid grid, std::int32_t* codes);
/// values[i] = dual_value(codes[i]).
void dual_values(const std::int32_t* codes, std::size_t n, DualGrid grid, float* values);
/// values[i] += factor * dual_value(codes[i]), product rounded before the sum.
void dual_values_add(const std::int32_t* codes, std::size_t n, DualGrid grid, float factor,
                     float* values);

/// Symbols without prediction: of codes[i].
void symbols_plain(const std::int32_t* codes, std::size_t n, std::uint32_t radius,
                   std::uint16_t* symbols);
/// Of codes[i] - codes[i - 1]; codes[-1] is read.
void symbols_1d(const std::int32_t* codes, std::size_t n, std::uint32_t radius,
                std::uint16_t* symbols);
/// Of codes[i] - codes[i - 1] - above[i] + above[i - 1], above = codes - columns; codes[-1] and
/// above[-1] are read.
void symbols_2d(const std::int32_t* codes, std::size_t columns, std::size_t n, std::uint32_t radius,
                std::uint16_t* symbols);

}  // namespace gradwire::compressors::kernels
