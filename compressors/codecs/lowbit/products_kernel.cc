#include "compressors/codecs/lowbit/kernel.h"

#include "compressors/ordered_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/lowbit/products_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

HWY_INLINE double level_magnitude(float value, const LowbitThresholds& t,
                                  const LowbitTable& table) {
  return static_cast<double>(table.magnitude[lowbit_level(value, t)]);
}

#if HWY_TARGET != HWY_SCALAR
using WideTag = hn::CappedTag<double, 8>;
inline constexpr std::size_t kWide = hn::MaxLanes(WideTag());

/// Whole rows of 16 values; returns how many values were done.
HWY_INLINE std::size_t product_rows(const float* values, std::size_t n, const LowbitThresholds& t,
                                    const LowbitTable& table, double* partials, double& square) {
  const FloatTag d;
  const hn::Half<FloatTag> half;
  const WideTag wide;
  hn::Vec<WideTag> sums[kSumPartials / kWide];
#pragma GCC unroll 16
  for (auto& sum : sums) sum = hn::Zero(wide);
  auto squares = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kSumPartials <= n; i += kSumPartials) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kSumPartials; v += kFloats) {
      const auto magnitude = hn::Abs(hn::LoadU(d, values + i + v));
      auto q = hn::Set(d, table.magnitude[0]);
      for (int j = 0; j < 3; ++j)
        q = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, t.limit[j])),
                           hn::Set(d, table.magnitude[j + 1]), q);
      squares = hn::Add(squares, hn::Mul(q, q));
      const auto term = [&](auto m, auto w) HWY_ATTR {
        return hn::Mul(hn::PromoteTo(wide, m), hn::PromoteTo(wide, w));
      };
      auto& low = sums[v / kWide];
      auto& high = sums[v / kWide + 1];
      low = hn::Add(low, term(hn::LowerHalf(half, magnitude), hn::LowerHalf(half, q)));
      high = hn::Add(high, term(hn::UpperHalf(half, magnitude), hn::UpperHalf(half, q)));
    }
    prefetch_ahead(values + i);
  }
#pragma GCC unroll 16
  for (std::size_t j = 0; j < kSumPartials / kWide; ++j)
    hn::StoreU(sums[j], wide, partials + j * kWide);
  square = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, squares)));  // at most 2^16: exact
  return i;
}
#endif

HWY_ATTR LowbitProducts Products(const float* values, std::size_t n, const LowbitThresholds& t,
                                 const LowbitTable& table) {
  double partials[kSumPartials] = {};
  LowbitProducts products;
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  i = product_rows(values, n, t, table, partials, products.square);
#endif
  for (; i < n; ++i) {
    const double q = level_magnitude(values[i], t, table);
    partials[i % kSumPartials] += static_cast<double>(float_of(magnitude_bits(values[i]))) * q;
    products.square += q * q;
  }
  products.dot = fold_partials(partials);
  return products;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(Products);

LowbitProducts lowbit_products(const float* values, std::size_t n,
                               const LowbitThresholds& thresholds, const LowbitTable& table) {
  return HWY_DYNAMIC_DISPATCH(Products)(values, n, thresholds, table);
}

}  // namespace gradwire::compressors::kernels
#endif
