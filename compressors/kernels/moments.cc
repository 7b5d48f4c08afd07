#include "compressors/kernels/moments.h"

#include "compressors/ordered_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/moments.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

using DoubleTag = hn::CappedTag<double, 8>;
using DoubleVector = hn::Vec<DoubleTag>;
inline constexpr std::size_t kDoubles = hn::MaxLanes(DoubleTag());

/// Vectors of the 16 partial sums that one pass over the block carries in registers.
inline constexpr std::size_t kCarried = kSumPartials / kDoubles < 4 ? kSumPartials / kDoubles : 4;

struct Carried {
  DoubleVector sum[kCarried], square[kCarried];
};

HWY_INLINE IntVector carry(const float* values, std::size_t rows, double pivot, std::size_t first,
                           Carried& x) {
  const DoubleTag d;
  const hn::Rebind<float, DoubleTag> df;
  const hn::RebindToSigned<decltype(df)> di;
  const auto center = hn::Set(d, pivot);
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kCarried; ++v) x.sum[v] = x.square[v] = hn::Zero(d);
  auto largest = hn::Zero(di);
  for (std::size_t i = first; i < rows; i += kSumPartials) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kCarried; ++v) {
      const auto value = hn::LoadU(df, values + i + v * kDoubles);
      largest = hn::Max(largest, hn::BitCast(di, hn::Abs(value)));
      const auto difference = hn::Sub(hn::PromoteTo(d, value), center);
      x.sum[v] = hn::Add(x.sum[v], difference);
      x.square[v] = hn::Add(x.square[v], hn::Mul(difference, difference));
    }
    hwy::Prefetch(values + i + 1024);
  }
  return hn::Set(IntTag(), hn::GetLane(hn::MaxOfLanes(di, largest)));
}

HWY_ATTR BlockMoments Moments(const float* values, std::size_t n, double pivot) {
  double sums[kSumPartials], squares[kSumPartials];
  const std::size_t rows = n / kSumPartials * kSumPartials;
  auto vector_largest = hn::Zero(IntTag());
  for (std::size_t j = 0; j < kSumPartials; j += kCarried * kDoubles) {
    Carried x;
    vector_largest = hn::Max(vector_largest, carry(values, rows, pivot, j, x));
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kCarried; ++v) {
      hn::StoreU(x.sum[v], DoubleTag(), sums + j + v * kDoubles);
      hn::StoreU(x.square[v], DoubleTag(), squares + j + v * kDoubles);
    }
  }
  std::uint32_t largest = reduce_max(vector_largest);
  for (std::size_t i = rows; i < n; ++i) {
    const double difference = static_cast<double>(values[i]) - pivot;
    sums[i - rows] += difference;
    squares[i - rows] += difference * difference;
    largest = std::max(largest, magnitude_bits(values[i]));
  }
  return BlockMoments{fold_partials(sums), fold_partials(squares), largest};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(Moments);

BlockMoments block_moments(const float* values, std::size_t n, double pivot) {
  return HWY_DYNAMIC_DISPATCH(Moments)(values, n, pivot);
}

}  // namespace gradwire::compressors::kernels
#endif
