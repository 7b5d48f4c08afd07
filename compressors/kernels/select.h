#pragma once
#include <cstddef>
#include <cstdint>

/// The inner loops of selection by magnitude. Every instruction set gives the same results.
namespace gradwire::compressors::kernels {

/// Arrays of entries have room for this many beyond the last.
inline constexpr std::size_t kSelectSlack = 16;

struct Scan {
  std::size_t count = 0;            ///< entries found
  std::uint32_t max_magnitude = 0;  ///< over all values; kInfinityBits or more: not finite
};

/// Index (base + i) and value of each values[i] whose magnitude bits are at least `lowest`, by
/// ascending index. indices and found: [n + kSelectSlack].
Scan scan_large(const float* values, std::size_t n, std::uint32_t base, std::uint32_t lowest,
                std::uint32_t* indices, float* found);

/// As scan_large of sums[i] + values[i], which is stored in sums[i], but 0 for magnitude bits of at
/// least `cleared_from` >= lowest.
Scan add_scan_large(const float* values, float* sums, std::size_t n, std::uint32_t base,
                    std::uint32_t lowest, std::uint32_t cleared_from, std::uint32_t* indices,
                    float* found);

/// A velocity's step: velocity[i] = momentum velocity[i] + factor gradient[i], each rounded.
struct VelocityRule {
  const float* gradient = nullptr;
  float* velocity = nullptr;
  float momentum = 0, factor = 1;
};

/// As the step, and then add_scan_large of the velocity, with one look at each element.
Scan step_scan_large(const VelocityRule& rule, float* sums, std::size_t n, std::uint32_t base,
                     std::uint32_t lowest, std::uint32_t cleared_from, std::uint32_t* indices,
                     float* found);

/// ++bins[(key - low) >> shift] for each key = magnitude bits of a value with low <= key <= high.
void count_magnitudes(const float* values, std::size_t n, std::uint32_t low, std::uint32_t high,
                      int shift, std::uint32_t* bins);

struct LargeCounts {
  std::uint32_t above = 0, equal = 0;
};

/// How many magnitudes exceed `magnitude` (bits), and how many equal it. Reads values[n +
/// kSelectSlack].
LargeCounts count_large(const float* values, std::size_t n, std::uint32_t magnitude);

/// All magnitudes above one, and the first `ties` that equal it.
struct KeepRule {
  std::uint32_t magnitude = 0;  ///< bits
  std::size_t ties = 0;
};

/// What add_scan_large has left in the sums.
struct Clearing {
  float* sums = nullptr;           ///< null: there are none
  std::uint32_t cleared_from = 0;  ///< magnitude bits
};

/// Copies the entries that the rule keeps; returns how many these are. Then sums[index] is 0 for
/// those kept and the value for the others. Reads [n + kSelectSlack] entries; writes at most [room]
/// of them, which is not less than what is kept.
std::size_t keep_large(const std::uint32_t* indices, const float* values, std::size_t n,
                       KeepRule rule, std::uint32_t* kept_indices, float* kept, std::size_t room,
                       Clearing clearing);

/// Bit i % 8 of bits[i / 8] = values[i] is not 0 (nor -0), the last byte's others 0; returns how
/// many bits are 1.
std::size_t nonzero_bits(const float* values, std::size_t n, std::byte* bits);

/// {u32 index, f32 value} each: entries[8 n].
void interleave_entries(const std::uint32_t* indices, const float* values, std::size_t n,
                        std::byte* entries);

}  // namespace gradwire::compressors::kernels
