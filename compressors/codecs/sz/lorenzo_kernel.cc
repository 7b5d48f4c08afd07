#include "compressors/codecs/sz/lorenzo.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/sz/lorenzo_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using MagnitudeTag = hn::RebindToSigned<FloatTag>;  // never negative, so signed maxima do
using DoubleTag = hn::CappedTag<double, 8>;
using HalfFloatTag = hn::Rebind<float, DoubleTag>;  // as many floats as doubles in a vector
using IndexTag = hn::Rebind<std::int32_t, DoubleTag>;

HWY_INLINE std::uint32_t larger(std::uint32_t a, std::uint32_t b) {
  return a < b ? b : a;
}

HWY_ATTR MagnitudeRange Range(const float* values, std::size_t n) {
  const FloatTag d;
  const MagnitudeTag di;
  const std::size_t lanes = hn::Lanes(d);
  auto smallest = hn::Set(d, values[0]), largest = smallest;
  auto magnitude = hn::Zero(di);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    smallest = hn::Min(smallest, value);
    largest = hn::Max(largest, value);
    magnitude = hn::Max(magnitude, hn::BitCast(di, hn::Abs(value)));
  }
  MagnitudeRange range{hn::GetLane(hn::MinOfLanes(d, smallest)),
                       hn::GetLane(hn::MaxOfLanes(d, largest)),
                       static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(di, magnitude)))};
  for (; i < n; ++i) {
    range.smallest = values[i] < range.smallest ? values[i] : range.smallest;
    range.largest = values[i] > range.largest ? values[i] : range.largest;
    range.max_magnitude = larger(range.max_magnitude, magnitude_bits(values[i]));
  }
  return range;
}

// Adding 1.5 * 2^52 rounds to an integer, ties to even, and leaves it in the low 32 bits.
HWY_INLINE hn::Vec<IndexTag> codes_of(hn::Vec<HalfFloatTag> value, hn::Vec<DoubleTag> inverse) {
  const DoubleTag d;
  const hn::RebindToUnsigned<DoubleTag> dbits;
  const hn::RebindToUnsigned<IndexTag> dcode;
  const auto quotient = hn::Mul(hn::PromoteTo(d, value), inverse);
  const auto fits = hn::Le(hn::Abs(quotient), hn::Set(d, kDualLargest));
  const auto shifted = hn::Add(hn::IfThenElseZero(fits, quotient), hn::Set(d, 0x1.8p52));
  return hn::BitCast(IndexTag(), hn::TruncateTo(dcode, hn::BitCast(dbits, shifted)));
}

HWY_ATTR std::uint32_t Codes(const float* values, std::size_t n, DualGrid grid,
                             std::int32_t* codes) {
  const HalfFloatTag df;
  const hn::RebindToSigned<HalfFloatTag> di;
  const std::size_t lanes = hn::Lanes(df);
  const auto inverse = hn::Set(DoubleTag(), grid.inverse);
  auto magnitude = hn::Zero(di);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(df, values + i);
    magnitude = hn::Max(magnitude, hn::BitCast(di, hn::Abs(value)));
    hn::StoreU(codes_of(value, inverse), IndexTag(), codes + i);
  }
  auto largest = static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(di, magnitude)));
  for (; i < n; ++i) {
    codes[i] = dual_code(values[i], grid);
    largest = larger(largest, magnitude_bits(values[i]));
  }
  return largest;
}

template <bool kAdd>
HWY_INLINE void dequantize(const std::int32_t* codes, std::size_t n, DualGrid grid, float factor,
                           float* values) {
  const DoubleTag d;
  const HalfFloatTag df;
  const std::size_t lanes = hn::Lanes(d);
  const auto step = hn::Set(d, grid.step);
  const auto top = hn::Set(d, kLargestFloat), bottom = hn::Set(d, -kLargestFloat);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto exact = hn::Mul(hn::PromoteTo(d, hn::LoadU(IndexTag(), codes + i)), step);
    auto value = hn::DemoteTo(df, hn::Min(hn::Max(exact, bottom), top));
    if constexpr (kAdd)
      value = hn::Add(hn::LoadU(df, values + i), hn::Mul(hn::Set(df, factor), value));
    hn::StoreU(value, df, values + i);
  }
  for (; i < n; ++i) {
    const float value = dual_value(codes[i], grid);
    values[i] = kAdd ? values[i] + factor * value : value;
  }
}

HWY_ATTR void Values(const std::int32_t* codes, std::size_t n, DualGrid grid, float* values) {
  dequantize<false>(codes, n, grid, 1.0f, values);
}
HWY_ATTR void ValuesAdd(const std::int32_t* codes, std::size_t n, DualGrid grid, float factor,
                        float* values) {
  dequantize<true>(codes, n, grid, factor, values);
}

// ---- Symbols. `difference(d, i)` gives a vector at i, `difference1(i)` one number.
using WordTag = hn::CappedTag<std::uint32_t, 16>;
using SymbolTag = hn::Rebind<std::uint16_t, WordTag>;

HWY_INLINE hn::Vec<WordTag> load_codes(const std::int32_t* codes) {
  return hn::BitCast(WordTag(), hn::LoadU(hn::RebindToSigned<WordTag>(), codes));
}

HWY_INLINE void store_symbols(hn::Vec<WordTag> difference, std::uint32_t radius,
                              std::uint16_t* symbols) {
  const WordTag d;
  const hn::RebindToSigned<WordTag> di;
  // Unsigned: index < 2 radius exactly where the smaller of both is index.
  const auto index = hn::Add(difference, hn::Set(d, radius));
  const auto inside = hn::Eq(hn::Min(index, hn::Set(d, 2 * radius - 1)), index);
  const auto symbol = hn::IfThenElseZero(inside, index);
  hn::StoreU(hn::DemoteTo(SymbolTag(), hn::BitCast(di, symbol)), SymbolTag(), symbols);
}

HWY_INLINE std::uint32_t word_of(std::int32_t code) {
  return static_cast<std::uint32_t>(code);
}

HWY_ATTR void SymbolsPlain(const std::int32_t* codes, std::size_t n, std::uint32_t radius,
                           std::uint16_t* symbols) {
  const std::size_t lanes = hn::Lanes(WordTag());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) store_symbols(load_codes(codes + i), radius, symbols + i);
  for (; i < n; ++i) symbols[i] = lorenzo_symbol(word_of(codes[i]), radius);
}

HWY_ATTR void Symbols1d(const std::int32_t* codes, std::size_t n, std::uint32_t radius,
                        std::uint16_t* symbols) {
  const std::size_t lanes = hn::Lanes(WordTag());
  const std::int32_t* left = codes - 1;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    store_symbols(hn::Sub(load_codes(codes + i), load_codes(left + i)), radius, symbols + i);
  for (; i < n; ++i) symbols[i] = lorenzo_symbol(word_of(codes[i]) - word_of(left[i]), radius);
}

HWY_ATTR void Symbols2d(const std::int32_t* codes, std::size_t columns, std::size_t n,
                        std::uint32_t radius, std::uint16_t* symbols) {
  const std::size_t lanes = hn::Lanes(WordTag());
  const std::int32_t *left = codes - 1, *above = codes - columns, *corner = above - 1;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto here = hn::Sub(load_codes(codes + i), load_codes(left + i));
    const auto there = hn::Sub(load_codes(above + i), load_codes(corner + i));
    store_symbols(hn::Sub(here, there), radius, symbols + i);
  }
  for (; i < n; ++i) {
    const std::uint32_t here = word_of(codes[i]) - word_of(left[i]);
    const std::uint32_t there = word_of(above[i]) - word_of(corner[i]);
    symbols[i] = lorenzo_symbol(here - there, radius);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(Range);
HWY_EXPORT(Codes);
HWY_EXPORT(Values);
HWY_EXPORT(ValuesAdd);
HWY_EXPORT(SymbolsPlain);
HWY_EXPORT(Symbols1d);
HWY_EXPORT(Symbols2d);

MagnitudeRange value_range(const float* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(Range)(values, n);
}
std::uint32_t dual_codes(const float* values, std::size_t n, DualGrid grid, std::int32_t* codes) {
  return HWY_DYNAMIC_DISPATCH(Codes)(values, n, grid, codes);
}
void dual_values(const std::int32_t* codes, std::size_t n, DualGrid grid, float* values) {
  HWY_DYNAMIC_DISPATCH(Values)(codes, n, grid, values);
}
void dual_values_add(const std::int32_t* codes, std::size_t n, DualGrid grid, float factor,
                     float* values) {
  HWY_DYNAMIC_DISPATCH(ValuesAdd)(codes, n, grid, factor, values);
}
void symbols_plain(const std::int32_t* codes, std::size_t n, std::uint32_t radius,
                   std::uint16_t* symbols) {
  HWY_DYNAMIC_DISPATCH(SymbolsPlain)(codes, n, radius, symbols);
}
void symbols_1d(const std::int32_t* codes, std::size_t n, std::uint32_t radius,
                std::uint16_t* symbols) {
  HWY_DYNAMIC_DISPATCH(Symbols1d)(codes, n, radius, symbols);
}
void symbols_2d(const std::int32_t* codes, std::size_t columns, std::size_t n, std::uint32_t radius,
                std::uint16_t* symbols) {
  HWY_DYNAMIC_DISPATCH(Symbols2d)(codes, columns, n, radius, symbols);
}

}  // namespace gradwire::compressors::kernels
#endif
