#include "compressors/codecs/powersgd/kernel.h"

#include <algorithm>
#include <cfloat>

#include "compressors/ordered_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/powersgd/kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::CappedTag<double, 8>;
using NarrowTag = hn::Rebind<float, DoubleTag>;
using DoubleVector = hn::Vec<DoubleTag>;
constexpr std::size_t kLanes = hn::MaxLanes(DoubleTag());
constexpr std::size_t kVectors = kSumPartials / kLanes;

HWY_INLINE DoubleVector load_promoted(const float* values) {
  return hn::PromoteTo(DoubleTag(), hn::LoadU(NarrowTag(), values));
}

/// Products of one row with K vectors, `columns` apart; out[k * stride].
template <std::size_t K>
HWY_INLINE void row_products(const float* row, std::size_t columns, const double* q, double* out,
                             std::size_t stride) {
  const DoubleTag d;
  DoubleVector sums[K][kVectors];
  for (auto& sum : sums)
    for (DoubleVector& part : sum) part = hn::Zero(d);
  std::size_t j = 0;
  for (; j + kSumPartials <= columns; j += kSumPartials) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto value = load_promoted(row + j + v * kLanes);
      for (std::size_t k = 0; k < K; ++k)
        sums[k][v] =
            hn::Add(sums[k][v], hn::Mul(value, hn::LoadU(d, q + k * columns + j + v * kLanes)));
    }
  }
  for (std::size_t k = 0; k < K; ++k) {
    double partials[kSumPartials];
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[k][v], d, partials + v * kLanes);
    for (std::size_t e = j; e < columns; ++e)
      partials[e - j] += static_cast<double>(row[e]) * q[k * columns + e];
    out[k * stride] = fold_partials(partials);
  }
}

HWY_ATTR void MultiplyRows(const float* m, std::size_t rows, std::size_t columns, std::size_t begin,
                           std::size_t end, const double* q, std::size_t rank, double* p) {
  for (std::size_t i = begin; i < end; ++i) {
    const float* row = m + i * columns;
    std::size_t k = 0;
    for (; k + 4 <= rank; k += 4)
      row_products<4>(row, columns, q + k * columns, p + k * rows + i, rows);
    for (; k + 2 <= rank; k += 2)
      row_products<2>(row, columns, q + k * columns, p + k * rows + i, rows);
    for (; k < rank; ++k) row_products<1>(row, columns, q + k * columns, p + k * rows + i, rows);
  }
}

/// Adds R rows, one after the other, to K sums of n columns. p + k * stride holds the R factors.
template <std::size_t K, std::size_t R>
HWY_INLINE void add_rows(const float* m, std::size_t columns, std::size_t n, const double* p,
                         std::size_t stride, double* q) {
  const DoubleTag d;
  std::size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    DoubleVector sums[K];
    for (std::size_t k = 0; k < K; ++k) sums[k] = hn::LoadU(d, q + k * columns + j);
    for (std::size_t r = 0; r < R; ++r) {
      const auto value = load_promoted(m + r * columns + j);
      for (std::size_t k = 0; k < K; ++k)
        sums[k] = hn::Add(sums[k], hn::Mul(value, hn::Set(d, p[k * stride + r])));
    }
    for (std::size_t k = 0; k < K; ++k) hn::StoreU(sums[k], d, q + k * columns + j);
  }
  for (; j < n; ++j)
    for (std::size_t k = 0; k < K; ++k)
      for (std::size_t r = 0; r < R; ++r)
        q[k * columns + j] += static_cast<double>(m[r * columns + j]) * p[k * stride + r];
}

template <std::size_t K>
HWY_INLINE void column_products(const float* m, std::size_t rows, std::size_t columns,
                                std::size_t n, const double* p, double* q) {
  for (std::size_t k = 0; k < K; ++k) std::fill_n(q + k * columns, n, 0.0);
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) add_rows<K, 4>(m + i * columns, columns, n, p + i, rows, q);
  for (; i < rows; ++i) add_rows<K, 1>(m + i * columns, columns, n, p + i, rows, q);
}

HWY_ATTR void MultiplyColumns(const float* m, std::size_t rows, std::size_t columns,
                              std::size_t begin, std::size_t end, const double* p, std::size_t rank,
                              double* q) {
  constexpr std::size_t kTile = 512;  // sums of a tile stay in the nearest cache
  for (std::size_t at = begin; at < end; at += kTile) {
    const std::size_t n = std::min(kTile, end - at);
    std::size_t k = 0;
    for (; k + 4 <= rank; k += 4)
      column_products<4>(m + at, rows, columns, n, p + k * rows, q + k * columns + at);
    for (; k < rank; ++k)
      column_products<1>(m + at, rows, columns, n, p + k * rows, q + k * columns + at);
  }
}

template <bool kAdd>
HWY_INLINE void combine(const double* p, const double* q, std::size_t columns, std::size_t rank,
                        float factor, float* values) {
  const DoubleTag d;
  const NarrowTag df;
  const auto top = hn::Set(d, double{FLT_MAX}), bottom = hn::Set(d, -double{FLT_MAX});
  std::size_t j = 0;
  for (; j + kLanes <= columns; j += kLanes) {
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < rank; ++k)
      sum = hn::Add(sum, hn::Mul(hn::Set(d, p[k]), hn::LoadU(d, q + k * columns + j)));
    auto value = hn::DemoteTo(df, hn::Min(hn::Max(sum, bottom), top));
    if constexpr (kAdd)
      value = hn::Add(hn::LoadU(df, values + j), hn::Mul(hn::Set(df, factor), value));
    hn::StoreU(value, df, values + j);
  }
  for (; j < columns; ++j) {
    double sum = 0;
    for (std::size_t k = 0; k < rank; ++k) sum += p[k] * q[k * columns + j];
    const auto value = static_cast<float>(std::clamp(sum, -double{FLT_MAX}, double{FLT_MAX}));
    values[j] = kAdd ? values[j] + factor * value : value;
  }
}

HWY_ATTR void CombineRow(const double* p, const double* q, std::size_t columns, std::size_t rank,
                         float* values) {
  combine<false>(p, q, columns, rank, 1.0f, values);
}
HWY_ATTR void CombineRowAdd(const double* p, const double* q, std::size_t columns, std::size_t rank,
                            float factor, float* values) {
  combine<true>(p, q, columns, rank, factor, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(MultiplyRows);
HWY_EXPORT(MultiplyColumns);
HWY_EXPORT(CombineRow);
HWY_EXPORT(CombineRowAdd);

void multiply_rows(const float* m, std::size_t rows, std::size_t columns, std::size_t begin,
                   std::size_t end, const double* q, std::size_t rank, double* p) {
  HWY_DYNAMIC_DISPATCH(MultiplyRows)(m, rows, columns, begin, end, q, rank, p);
}
void multiply_columns(const float* m, std::size_t rows, std::size_t columns, std::size_t begin,
                      std::size_t end, const double* p, std::size_t rank, double* q) {
  HWY_DYNAMIC_DISPATCH(MultiplyColumns)(m, rows, columns, begin, end, p, rank, q);
}
void combine_row(const double* p, const double* q, std::size_t columns, std::size_t rank,
                 float* values) {
  HWY_DYNAMIC_DISPATCH(CombineRow)(p, q, columns, rank, values);
}
void combine_row_add(const double* p, const double* q, std::size_t columns, std::size_t rank,
                     float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(CombineRowAdd)(p, q, columns, rank, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
