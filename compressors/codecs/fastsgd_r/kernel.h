#pragma once
#include <cstddef>
#include <cstdint>

/// The encoder of `fastsgd_r`'s byte codes. Every instruction set gives the same bits. No alignment
/// is required.
namespace gradwire::compressors::kernels {

inline constexpr std::size_t kMostLevelCodes = 64;

/// For each values[i] whose magnitude bits reach least[levels - 1]: codes[i] = its log_level
/// (compressors/codecs/fastsgd_r/arithmetic.h), and 1 << sign_bit if it is negative; bit i % 64 of
/// kept[i / 64] is 1. For the others both are 0, as is what kept[(n + 63) / 64] has beyond n.
/// Preconditions: `least` descends, least[levels - 1] > 0, levels <= kMostLevelCodes, sign_bit < 7.
void level_codes(const float* values, std::size_t n, const std::uint32_t* least, std::size_t levels,
                 int sign_bit, std::uint8_t* codes, std::uint64_t* kept);

}  // namespace gradwire::compressors::kernels
