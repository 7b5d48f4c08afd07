#pragma once
#include <cstddef>
#include <cstdint>

#include "base/philox.h"
#include "compressors/arithmetic/ternary.h"

/// The inner loops of the CPU codecs, compiled for several instruction sets and chosen at run time.
/// Every instruction set gives the same bits. No alignment is required; buffers do not overlap.
namespace gradwire::compressors::kernels {

/// max over i of magnitude_bits(values[i]); 0 for n = 0. kInfinityBits or more: not finite.
std::uint32_t max_magnitude_bits(const float* values, std::size_t n);

/// As above, of sums[i] = sums[i] + values[i], which is stored.
std::uint32_t add_max_magnitude_bits(const float* values, float* sums, std::size_t n);

/// Draws of blocks [first_block, first_block + blocks): words[4 * blocks].
void philox_words(const RandomStream& stream, std::uint32_t first_block, std::size_t blocks,
                  std::uint32_t* words);

/// Codes t + 1 at 2 bits, ceil(n / 4) bytes, unused bits 0. Returns the largest magnitude bits.
std::uint32_t ternary_codes(const float* values, const std::uint32_t* words, std::size_t n,
                            TernaryRule rule, std::byte* codes);
/// values[i] = scale * t.
void ternary_values(const std::byte* codes, std::size_t n, float scale, float* values);
/// values[i] += scale * t, product rounded before the sum.
void ternary_values_add(const std::byte* codes, std::size_t n, float scale, float* values);

/// Little-endian halves, 2 n bytes. Returns the largest magnitude bits of the input.
std::uint32_t to_half(const float* values, std::size_t n, std::byte* halves);
void from_half(const std::byte* halves, std::size_t n, float* values);
/// values[i] += factor * half i, product rounded before the sum.
void from_half_add(const std::byte* halves, std::size_t n, float factor, float* values);

/// keys[] = the magnitude bits that are at least `lowest`, by ascending index; keys has room for
/// n + 16, and all of it may be overwritten.
struct LargeKeys {
  std::size_t count = 0;
  std::uint32_t max_magnitude = 0;
};
LargeKeys collect_keys(const float* values, std::size_t n, std::uint32_t lowest,
                       std::uint32_t* keys);

/// Writes an entry {u32 index, f32 value} for each value whose magnitude bits exceed `threshold`,
/// and for the first `ties` that equal it, by ascending index. Returns the number of entries.
std::size_t select_entries(const float* values, std::size_t n, std::uint32_t threshold,
                           std::size_t ties, std::byte* entries);

/// Sums over one block of n <= kSumBlock elements of d = value - pivot and of d^2, in the order of
/// compressors/ordered_sum.h.
struct BlockMoments {
  double sum = 0;
  double sum_squares = 0;
  std::uint32_t max_magnitude = 0;
};
BlockMoments block_moments(const float* values, std::size_t n, double pivot);

}  // namespace gradwire::compressors::kernels
