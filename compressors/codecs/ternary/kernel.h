#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codecs/ternary/dead_zone.h"
#include "compressors/kernels/output.h"

/// Inner loops of `ternary`. Every instruction set gives the same bits. No
/// alignment is required.
namespace gradwire::compressors::kernels {

/// Codes of threshold_code at 2 bits, LSB first, ceil(n / 4) bytes, unused bits 0.
void threshold_codes(const float* values, std::size_t n, std::uint32_t lowest, std::byte* codes);
/// Decoded = 0, level, -level. Returns true if a code of the n is 3 (its value here: 0).
bool threshold_values(const std::byte* codes, std::size_t n, float level, Output output,
                      float* values);

/// Magnitude bits are counted by their top 16 bits.
inline constexpr int kBinShift = 15;
inline constexpr std::size_t kBins = std::size_t{1} << 16;
/// In one bin: how many, and the sum of their low 15 bits.
inline constexpr int kBinCountShift = 40;
inline constexpr std::size_t kBinLimit = std::size_t{1} << 24;  ///< elements before a bin overflows
/// bins[m >> 15] += 2^40 + (m & 0x7FFF) for the magnitude bits m of n <= kBinLimit values.
void count_magnitudes(const float* values, std::size_t n, std::uint64_t* bins);
/// ++counts[m - lowest] where m - lowest < size.
void count_exactly(const float* values, std::size_t n, std::uint32_t lowest, std::uint32_t size,
                   std::uint32_t* counts);

/// codes[i] = dead_zone_code(values[i], grid), one byte each. Returns the largest magnitude bits,
/// for the caller to refuse values that are not finite.
std::uint32_t dead_zone_codes(const float* values, std::size_t n, const DeadZoneGrid& grid,
                              std::uint8_t* codes);

}  // namespace gradwire::compressors::kernels
