#pragma once
#include <cstddef>
#include <cstdint>

/// What entropy coders count in a chunk of symbols. Buffers do not overlap.
namespace gradwire::compressors::kernels {

/// Counts into four tables of `alphabet` words, one behind the other: the count of s is the sum of
/// its four. A symbol that repeats does not wait for its own last count to be stored. Precondition:
/// every symbol is below `alphabet`.
void count_symbols(const std::uint16_t* symbols, std::size_t n, std::size_t alphabet,
                   std::uint32_t* tables);

/// Bit i of mask (64 to a word, lowest first) = (symbols[i] == symbol); ceil(n / 64) words, unused
/// bits 0.
void equal_mask(const std::uint16_t* symbols, std::size_t n, std::uint16_t symbol,
                std::uint64_t* mask);

/// classes[c] += runs of 2^c to 2^(c + 1) - 1 ones in `words` <= 64 words of a mask, c = 0 to 12.
/// Bits beyond the mask's end are 0.
inline constexpr std::size_t kRunClasses = 13;
void count_runs(const std::uint64_t* mask, std::size_t words, std::uint32_t* classes);

}  // namespace gradwire::compressors::kernels
