#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

/// What entropy coders count in a chunk of symbols. Buffers do not overlap.
namespace gradwire::compressors::kernels {

/// counts[s] += how often s occurs. `tables` is work space of 4 * counts.size() words.
/// Precondition: every symbol is below counts.size().
void count_symbols(const std::uint16_t* symbols, std::size_t n, std::span<std::uint32_t> tables,
                   std::span<std::uint32_t> counts);

/// Bit i of mask (64 to a word, lowest first) = (symbols[i] == symbol); ceil(n / 64) words, unused
/// bits 0.
void equal_mask(const std::uint16_t* symbols, std::size_t n, std::uint16_t symbol,
                std::uint64_t* mask);

}  // namespace gradwire::compressors::kernels
