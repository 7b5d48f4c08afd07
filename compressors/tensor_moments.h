#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/thread_team.h"
#include "compressors/kernels/moments.h"
#include "compressors/ordered_sum.h"

/// Ordered sums over a whole tensor, shared by threads.
namespace gradwire::compressors {

/// Sums of d = value - pivot and d^2 in the order of ordered_sum.h, and the largest magnitude, of
/// which sums mean nothing if it says that a value is not finite. The tensor is cut into at most 64
/// parts of 2^k blocks: each is a subtree of the pairwise sum, so that the result depends neither
/// on the cut nor on the threads.
inline kernels::BlockMoments tensor_moments(ThreadTeam* team, std::span<const float> data,
                                            double pivot) {
  constexpr std::size_t kParts = 64;
  constexpr std::size_t kSmallestPart = 16 * kSumBlock;
  std::size_t part = kSmallestPart;
  while (data.size() > kParts * part) part *= 2;
  const std::size_t parts = (data.size() + part - 1) / part;
  std::array<kernels::BlockMoments, kParts> moments;
  const auto sum_part = [&](std::size_t p) {
    PairwiseSum sum, sum_squares;
    std::uint32_t largest = 0;
    const std::size_t end = std::min(data.size(), (p + 1) * part);
    for (std::size_t begin = p * part; begin < end; begin += kSumBlock) {
      const auto block =
          kernels::block_moments(data.data() + begin, std::min(kSumBlock, end - begin), pivot);
      sum.add(block.sum);
      sum_squares.add(block.sum_squares);
      largest = std::max(largest, block.max_magnitude);
    }
    moments[p] = {sum.total(), sum_squares.total(), largest};
  };
  if (parts == 1) {
    sum_part(0);
    return moments[0];
  }
  if (team != nullptr && parts > 1)
    team->run(parts, [&](std::size_t p) { sum_part(p); });
  else
    for (std::size_t p = 0; p < parts; ++p) sum_part(p);
  PairwiseSum sum, sum_squares;
  std::uint32_t largest = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    sum.add(moments[p].sum);
    sum_squares.add(moments[p].sum_squares);
    largest = std::max(largest, moments[p].max_magnitude);
  }
  return {sum.total(), sum_squares.total(), largest};
}

}  // namespace gradwire::compressors
