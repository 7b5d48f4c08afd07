#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/kernels/levels.h"
#include "compressors/kernels/output.h"

/// Inner loops of `log`. Every instruction set gives the same bits. No alignment is required.
namespace gradwire::compressors::kernels {

/// codes[i] = log_code(values[i], emax) (compressors/arithmetic/power_of_two.h), one byte each.
/// Returns the largest magnitude bits, for the caller to refuse values that are not finite.
std::uint32_t log_codes(const float* values, std::size_t n, int emax, std::uint8_t* codes);
/// Decoded = log_value(code i, emax), codes of 6 bits, low bits first.
void log_values(const PackedCodes& codes, std::size_t n, int emax, Output output, float factor,
                float* values);

}  // namespace gradwire::compressors::kernels
