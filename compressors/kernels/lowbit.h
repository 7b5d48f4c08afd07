#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/arithmetic/dead_zone.h"
#include "compressors/arithmetic/lowbit.h"
#include "compressors/codec.h"
#include "compressors/kernels/output.h"

/// Inner loops of codecs with few levels: codes pass through a buffer of bytes, one a code, that
/// stays in the first-level cache; compressors/kernels/levels.h packs them. Encoders return the
/// largest magnitude bits, for their callers to refuse values that are not finite (their codes mean
/// nothing). Every instruction set gives the same bits. No alignment is required.
namespace gradwire::compressors::kernels {

/// codes[i] = log_code(values[i], emax) (compressors/arithmetic/power_of_two.h).
std::uint32_t log_codes(const float* values, std::size_t n, int emax, std::uint8_t* codes);
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

/// <|v|, q> and <q, q> over one block of n <= kSumBlock values, q = the magnitude of v's level: the
/// former in the order of compressors/ordered_sum.h, the latter exact.
struct LowbitProducts {
  double dot = 0;
  double square = 0;
};
LowbitProducts lowbit_products(const float* values, std::size_t n,
                               const LowbitThresholds& thresholds, const LowbitTable& table);

/// Decoded = table[codes[i]]; `entries` = 2, 4, ... 256, the table's size; codes are below it.
void table_values(const std::uint8_t* codes, std::size_t n, const float* table, int entries,
                  Output output, float* values);

/// Bit i = 1 iff not values[i] < 0, LSB first; ceil(n / 8) bytes, unused bits 0.
std::uint32_t positive_bits(const float* values, std::size_t n, std::byte* bits);
/// Bit i = binary_draw(values[i], its word); value i takes the draw of element begin + i.
std::uint32_t drawn_bits(const float* values, std::size_t n, const Draws& draws, std::size_t begin,
                         std::byte* bits);

}  // namespace gradwire::compressors::kernels
