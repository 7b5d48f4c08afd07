#pragma once
#include <cstddef>
#include <cstdint>

/// The inner loops of selection by magnitude. Every instruction set gives the same results.
namespace gradwire::compressors::kernels {

/// Output arrays of the kernels below have room for this many entries beyond the last.
inline constexpr std::size_t kSelectSlack = 16;

struct Scan {
  std::size_t count = 0;            ///< entries found
  std::uint32_t max_magnitude = 0;  ///< over all values; kInfinityBits or more: not finite
};

/// Index (base + i) and value of each values[i] whose magnitude bits are at least `lowest`, by
/// ascending index. indices and found: [n + kSelectSlack].
Scan scan_large(const float* values, std::size_t n, std::uint32_t base, std::uint32_t lowest,
                std::uint32_t* indices, float* found);

/// As scan_large of sums[i] + values[i], which is stored in sums[i], but 0 for those found.
Scan add_scan_large(const float* values, float* sums, std::size_t n, std::uint32_t base,
                    std::uint32_t lowest, std::uint32_t* indices, float* found);

/// ++bins[(key - low) >> shift] for each key = magnitude bits of a value with low <= key <= high.
void count_magnitudes(const float* values, std::size_t n, std::uint32_t low, std::uint32_t high,
                      int shift, std::uint32_t* bins);

/// Copies the entries whose magnitude bits exceed `threshold`, and as long as `ties` > 0 (it counts
/// down) those that equal it. Where `sums` is not null, those left out are stored back, at
/// sums[index]. Returns how many were copied; kept_indices and kept: [that many + kSelectSlack].
std::size_t keep_large(const std::uint32_t* indices, const float* values, std::size_t n,
                       std::uint32_t threshold, std::size_t& ties, std::uint32_t* kept_indices,
                       float* kept, float* sums);

/// {u32 index, f32 value} each: entries[8 n].
void interleave_entries(const std::uint32_t* indices, const float* values, std::size_t n,
                        std::byte* entries);

}  // namespace gradwire::compressors::kernels
