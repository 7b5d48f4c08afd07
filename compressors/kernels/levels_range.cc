#include "compressors/kernels/levels.h"

#include "compressors/ordered_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/levels_range.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/range-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

HWY_ATTR ValueRange Range(const float* values, std::size_t n) {
  return range_of(values, n);
}

// The square of a binary32 number is exact in double: a fused multiplication and addition rounds
// once, as the addition alone does, so each instruction set may choose.
HWY_ATTR double BlockSquares(const float* values, std::size_t n) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> df;
  constexpr std::size_t kVectors = kSumPartials / hn::MaxLanes(d);
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> partial[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) partial[v] = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kSumPartials <= n; i += kSumPartials) {
    fetch_ahead(values + i);
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto value = hn::PromoteTo(d, hn::LoadU(df, values + i + v * lanes));
      partial[v] = hn::MulAdd(value, value, partial[v]);
    }
  }
  double partials[kSumPartials];
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(partial[v], d, partials + v * lanes);
  for (std::size_t j = 0; i < n; ++i, ++j)
    partials[j] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return fold_partials(partials);
}

HWY_ATTR double SumOfSquares(const float* values, std::size_t n) {
  if (n <= kSumBlock) return BlockSquares(values, n);
  PairwiseSum blocks;
  for (std::size_t begin = 0; begin < n; begin += kSumBlock)
    blocks.add(BlockSquares(values + begin, std::min(kSumBlock, n - begin)));
  return blocks.total();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(Range);
HWY_EXPORT(SumOfSquares);

ValueRange bucket_range(const float* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(Range)(values, n);
}
double sum_of_squares(const float* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(SumOfSquares)(values, n);
}

}  // namespace gradwire::compressors::kernels
#endif
