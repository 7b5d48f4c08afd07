#pragma once
#include <cstddef>
#include <cstdint>

/// Every instruction set gives the same bits. No alignment is required; buffers do not overlap.
namespace gradwire::compressors::kernels {

/// max over i of magnitude_bits(values[i]); 0 for n = 0. kInfinityBits or more: not finite.
std::uint32_t max_magnitude_bits(const float* values, std::size_t n);

/// As above, of sums[i] = sums[i] + values[i], which is stored.
std::uint32_t add_max_magnitude_bits(const float* values, float* sums, std::size_t n);

/// copy[i] = values[i], past the caches if `streamed`; returns the largest magnitude bits.
std::uint32_t copy_max_magnitude_bits(const float* values, std::size_t n, bool streamed,
                                      std::byte* copy);

/// sums[i] += factor * float i of `values`, which needs no alignment.
void add_scaled(const std::byte* values, std::size_t n, float factor, float* sums);

/// to[i] = factor * float i of `values`.
void store_scaled(const std::byte* values, std::size_t n, float factor, float* to);

/// values[i] = factor * values[i] + weight * added[i], in three roundings.
void scale_and_add(float factor, const float* added, float weight, std::size_t n, float* values);

/// Copies bytes, past the caches if `streamed`.
void copy_bytes(const std::byte* from, std::size_t bytes, bool streamed, std::byte* to);

}  // namespace gradwire::compressors::kernels
