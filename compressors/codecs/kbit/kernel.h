#pragma once
#include <cstddef>
#include <cstdint>

/// Encoders of `kbit`, one byte a code. Each returns the largest magnitude bits, for the caller to
/// refuse values that are not finite. Every instruction set gives the same bits. No alignment is
/// required.
namespace gradwire::compressors::kernels {

/// codes[i] = unit_code(values[i], bits), bits <= 8.
std::uint32_t unit_codes(const float* values, std::size_t n, int bits, std::uint8_t* codes);
/// codes[i] = step_code(values[i], step, bits), bits <= 8.
std::uint32_t step_codes(const float* values, std::size_t n, float step, int bits,
                         std::uint8_t* codes);

}  // namespace gradwire::compressors::kernels
