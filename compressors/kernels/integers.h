#pragma once
#include <cstddef>
#include <cstdint>

/// Integers of 32 bits to and from codes of fixed width, for sums in coded form. Every instruction
/// set gives the same bits. No alignment is required; buffers do not overlap.
namespace gradwire::compressors::kernels {

/// What a kernel did of its n elements, a multiple of 8: the caller does the rest.
struct CodesDone {
  std::size_t count = 0;
  std::uint32_t largest = 0;  ///< the largest code seen
};

/// Codes values[i] + bias, 1 <= width <= 16, LSB first. Higher bits of codes too large for the
/// width are lost; `largest` tells.
CodesDone pack_integers(const std::uint32_t* values, std::size_t n, int width, std::uint32_t bias,
                        std::byte* packed);
/// values[i] = (add ? values[i] : 0) + code i - bias. Reads nothing beyond n codes.
CodesDone unpack_integers(const std::byte* packed, std::size_t n, int width, std::uint32_t bias,
                          bool add, std::uint32_t* values);

/// values[i] = unit * (the int32 integers[i], rounded to binary32).
void scale_integers(const std::uint32_t* integers, std::size_t n, float unit, float* values);

}  // namespace gradwire::compressors::kernels
