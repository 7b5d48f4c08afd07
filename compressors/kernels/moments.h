#pragma once
#include <cstddef>
#include <cstdint>

/// Every instruction set gives the same bits. No alignment is required.
namespace gradwire::compressors::kernels {

/// Sums over one block of n <= kSumBlock elements of d = value - pivot and of d^2, in the order of
/// compressors/ordered_sum.h.
struct BlockMoments {
  double sum = 0;
  double sum_squares = 0;
  std::uint32_t max_magnitude = 0;
};
BlockMoments block_moments(const float* values, std::size_t n, double pivot);

}  // namespace gradwire::compressors::kernels
