#pragma once
#include <cstddef>
#include <cstdint>

namespace gradwire::compressors::kernels {

/// Rows of bits in 64-bit words, `stride` bytes apart; no alignment is required.
struct BitRows {
  const std::byte* first;
  std::size_t stride;
  std::size_t rows;
};

/// counts[i * counts_stride + j] += popcount(row i of a XOR row j of b) << shift, over `words`
/// words a row. Counts must not overflow. Rows of `b` are gathered once for all of `a`: give it
/// many.
void add_xor_counts(const BitRows& a, const BitRows& b, std::size_t words, int shift,
                    std::int32_t* counts, std::size_t counts_stride);

}  // namespace gradwire::compressors::kernels
