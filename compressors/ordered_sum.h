#pragma once
#include <cstddef>
#include <cstdint>

#include "base/host_device.h"

/// Sums whose result does not depend on vector width, thread count or device. The order is fixed:
///   1. elements are cut into blocks of 4,096;
///   2. in a block, partial sum j of 16 takes elements j, j + 16, j + 32, ... in order, in double,
///      starting from +0;
///   3. the 16 partials fold in halves: j += j + 8, then + 4, + 2, + 1;
///   4. the blocks' sums are added pairwise, neighbours first, an odd one passing up unchanged.
namespace gradwire::compressors {

inline constexpr std::size_t kSumBlock = 4096;
inline constexpr std::size_t kSumPartials = 16;

constexpr std::size_t sum_blocks(std::size_t n) {
  return (n + kSumBlock - 1) / kSumBlock;
}

/// Step 3.
GRADWIRE_HD double fold_partials(const double* partials) {
  static_assert(kSumPartials == 16);
  double by8[8], by4[4];
  for (std::size_t j = 0; j < 8; ++j) by8[j] = partials[j] + partials[j + 8];
  for (std::size_t j = 0; j < 4; ++j) by4[j] = by8[j] + by8[j + 4];
  return (by4[0] + by4[2]) + (by4[1] + by4[3]);
}

/// Step 4, as blocks arrive in order: a binary counter of pending sums, no storage by block.
class PairwiseSum {
 public:
  void add(double block_sum) {
    for (std::uint64_t bit = blocks_; bit & 1; bit >>= 1)
      block_sum = pending_[--depth_] + block_sum;
    pending_[depth_++] = block_sum;
    ++blocks_;
  }
  void clear() {
    depth_ = 0;
    blocks_ = 0;
  }
  double total() const {
    if (depth_ == 0) return 0.0;
    double sum = pending_[depth_ - 1];
    for (int i = depth_ - 1; i-- > 0;) sum = pending_[i] + sum;
    return sum;
  }

 private:
  double pending_[64];  // the first `depth_`: clearing all would cost more than a small sum
  int depth_ = 0;
  std::uint64_t blocks_ = 0;
};

/// The ordered sum of term(0) ... term(n - 1), `term` giving a double.
template <class Term>
double ordered_sum(std::size_t n, Term&& term) {
  if (n == 1) return 0.0 + term(0);  // zeros change nothing
  PairwiseSum blocks;
  for (std::size_t begin = 0; begin < n; begin += kSumBlock) {
    const std::size_t end = n - begin < kSumBlock ? n : begin + kSumBlock;
    double partials[kSumPartials] = {};
    std::size_t e = begin;
    for (; e + kSumPartials <= end; e += kSumPartials)
      for (std::size_t j = 0; j < kSumPartials; ++j) partials[j] += term(e + j);
    for (std::size_t j = 0; e < end; ++e, ++j) partials[j] += term(e);
    blocks.add(fold_partials(partials));
  }
  return blocks.total();
}

}  // namespace gradwire::compressors
