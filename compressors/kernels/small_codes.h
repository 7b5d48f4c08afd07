#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/arithmetic/dead_zone.h"
#include "compressors/arithmetic/kbit.h"
#include "compressors/arithmetic/lowbit.h"
#include "compressors/kernels/levels.h"
#include "compressors/kernels/output.h"

/// Encoders of codecs with few levels: codes pass through a buffer of bytes, one a code, that stays
/// in the first-level cache; compressors/kernels/levels.h packs them. Each returns the largest
/// magnitude bits, for its caller to refuse values that are not finite (their codes mean nothing).
/// Every instruction set gives the same bits. No alignment is required.
namespace gradwire::compressors::kernels {

/// codes[i] = log_code(values[i], emax) (compressors/arithmetic/power_of_two.h).
std::uint32_t log_codes(const float* values, std::size_t n, int emax, std::uint8_t* codes);
/// Decoded = log_value(code i, emax), codes of 6 bits, low bits first.
void log_values(const PackedCodes& codes, std::size_t n, int emax, Output output, float factor,
                float* values);
/// codes[i] = dead_zone_code(values[i], grid).
std::uint32_t dead_zone_codes(const float* values, std::size_t n, const DeadZoneGrid& grid,
                              std::uint8_t* codes);
/// codes[i] = lowbit_code(values[i], thresholds, middle).
std::uint32_t lowbit_codes(const float* values, std::size_t n, const LowbitThresholds& thresholds,
                           int middle, std::uint8_t* codes);
/// codes[i] = unit_code(values[i], bits), bits <= 8.
std::uint32_t unit_codes(const float* values, std::size_t n, int bits, std::uint8_t* codes);
/// codes[i] = step_code(values[i], step, bits), bits <= 8.
std::uint32_t step_codes(const float* values, std::size_t n, float step, int bits,
                         std::uint8_t* codes);

inline constexpr std::size_t kMostLevelCodes = 64;

/// For each values[i] whose magnitude bits reach least[levels - 1]: codes[i] = its log_level
/// (compressors/arithmetic/log_levels.h), and 1 << sign_bit if it is negative; bit i % 64 of
/// kept[i / 64] is 1. For the others both are 0, as is what kept[(n + 63) / 64] has beyond n.
/// Preconditions: `least` descends, least[levels - 1] > 0, levels <= kMostLevelCodes, sign_bit < 7.
void level_codes(const float* values, std::size_t n, const std::uint32_t* least, std::size_t levels,
                 int sign_bit, std::uint8_t* codes, std::uint64_t* kept);

}  // namespace gradwire::compressors::kernels
