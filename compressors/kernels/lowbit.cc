#include "compressors/kernels/lowbit.h"

#include "compressors/arithmetic/power_of_two.h"
#include "compressors/ordered_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/lowbit.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/philox-inl.h"
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {

/// coder.vector gives the codes of kFloats values, coder.scalar that of one.
template <class Coder>
HWY_INLINE std::uint32_t make_codes(const Coder& coder, const float* values, std::size_t n,
                                    std::uint8_t* codes) {
  const hn::Rebind<std::uint8_t, FloatTag> bytes;
  auto largest = hn::Zero(IntTag());
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    const auto value = hn::LoadU(FloatTag(), values + i);
    prefetch_ahead(values + i);
    largest = hn::Max(largest, magnitudes(value));
    hn::StoreU(hn::DemoteTo(bytes, coder.vector(value)), bytes, codes + i);
  }
  std::uint32_t seen = reduce_max(largest);
  for (; i < n; ++i) {
    seen = std::max(seen, magnitude_bits(values[i]));
    codes[i] = static_cast<std::uint8_t>(coder.scalar(values[i]));
  }
  return seen;
}

HWY_INLINE IntVector ints(int value) {
  return hn::Set(IntTag(), value);
}
HWY_INLINE hn::Mask<IntTag> below_zero(FloatVector value) {
  return hn::RebindMask(IntTag(), hn::Lt(value, hn::Zero(FloatTag())));
}

/// Subnormals are 0 here: emax - 30 > -126 + 1.
struct LogCoder {
  int emax;
  static constexpr int kSmallestEmax = -94;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const auto exponent =
        hn::ShiftRight<23>(hn::Add(magnitudes(value), ints(static_cast<int>(kPowerRounding))));
    const auto level = hn::Max(hn::Sub(ints(emax + 128), exponent), ints(1));
    const auto bits = hn::BitCast(UintTag(), value);
    const auto sign =
        hn::BitCast(IntTag(), hn::And(hn::ShiftRight<26>(bits), hn::Set(UintTag(), 32)));
    return hn::IfThenZeroElse(hn::Gt(level, ints(kLogLevels)), hn::Or(level, sign));
  }
  HWY_INLINE std::uint32_t scalar(float value) const { return log_code(value, emax); }
};

HWY_ATTR std::uint32_t LogCodes(const float* values, std::size_t n, int emax, std::uint8_t* codes) {
  if (emax >= LogCoder::kSmallestEmax) return make_codes(LogCoder{emax}, values, n, codes);
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < n; ++i) {
    codes[i] = static_cast<std::uint8_t>(log_code(values[i], emax));
    seen = std::max(seen, magnitude_bits(values[i]));
  }
  return seen;
}

struct DeadZoneCoder {
  DeadZoneGrid grid;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const FloatTag d;
    const auto scaled =
        hn::Mul(hn::Mul(hn::Abs(value), hn::Set(d, grid.lift)), hn::Set(d, grid.inverse));
    const auto nearest =
        hn::Min(hn::Max(hn::Round(scaled), hn::Set(d, 1.0f)), hn::Set(d, grid.top));
    const auto twice = hn::ShiftLeft<1>(hn::ConvertTo(IntTag(), nearest));
    const auto code = hn::IfThenElse(below_zero(value), twice, hn::Sub(twice, ints(1)));
    const auto dead = hn::RebindMask(IntTag(), hn::Lt(scaled, hn::Set(d, grid.dead_zone)));
    return hn::IfThenZeroElse(dead, code);
  }
  HWY_INLINE std::uint32_t scalar(float value) const { return dead_zone_code(value, grid); }
};
HWY_ATTR std::uint32_t DeadZoneCodes(const float* values, std::size_t n, const DeadZoneGrid& grid,
                                     std::uint8_t* codes) {
  return make_codes(DeadZoneCoder{grid}, values, n, codes);
}

struct LowbitCoder {
  LowbitThresholds thresholds;
  int middle;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const FloatTag d;
    if (middle < 0) return hn::IfThenZeroElse(below_zero(value), ints(1));
    const auto magnitude = hn::Abs(value);
    auto level = hn::Zero(IntTag());
    for (const float limit : thresholds.limit) {
      const auto above = hn::RebindMask(IntTag(), hn::Gt(magnitude, hn::Set(d, limit)));
      level = hn::Sub(level, hn::VecFromMask(IntTag(), above));
    }
    return hn::IfThenElse(below_zero(value), hn::Sub(ints(middle), level),
                          hn::Add(ints(middle), level));
  }
  HWY_INLINE std::uint32_t scalar(float value) const {
    return lowbit_code(value, thresholds, middle);
  }
};
HWY_ATTR std::uint32_t LowbitCodes(const float* values, std::size_t n,
                                   const LowbitThresholds& thresholds, int middle,
                                   std::uint8_t* codes) {
  return make_codes(LowbitCoder{thresholds, middle}, values, n, codes);
}

struct UnitCoder {
  int bits;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const FloatTag d;
    if (bits == 1) return hn::IfThenZeroElse(below_zero(value), ints(1));
    const auto one = hn::Set(d, 1.0f);
    const auto clipped = hn::Min(hn::Max(value, hn::Set(d, -1.0f)), one);
    const auto half_top = hn::Set(d, 0.5f * static_cast<float>((1u << bits) - 1));
    return hn::NearestInt(hn::Mul(hn::Add(clipped, one), half_top));
  }
  HWY_INLINE std::uint32_t scalar(float value) const { return unit_code(value, bits); }
};
HWY_ATTR std::uint32_t UnitCodes(const float* values, std::size_t n, int bits,
                                 std::uint8_t* codes) {
  return make_codes(UnitCoder{bits}, values, n, codes);
}

struct StepCoder {
  float step;
  int bits;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const FloatTag d;
    const auto half = hn::Set(d, static_cast<float>(1u << (bits - 1)));
    // Clipped before rounding: the ends are integers, so that it makes no difference.
    const auto level = hn::Min(hn::Max(hn::Div(value, hn::Set(d, step)), hn::Neg(half)),
                               hn::Sub(half, hn::Set(d, 1.0f)));
    return hn::Add(hn::NearestInt(level), hn::ConvertTo(IntTag(), half));
  }
  HWY_INLINE std::uint32_t scalar(float value) const { return step_code(value, step, bits); }
};
HWY_ATTR std::uint32_t StepCodes(const float* values, std::size_t n, float step, int bits,
                                 std::uint8_t* codes) {
  return make_codes(StepCoder{step, bits}, values, n, codes);
}

// ---- sums for the projection
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

// ---- decoding by table
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// Up to 64 entries in registers.
struct RegisterTable {
  __m512 part[4];
  int entries;
  HWY_INLINE RegisterTable(const float* table, int count) : entries(count) {
    alignas(64) float all[64];
    for (int e = 0; e < 64; ++e) all[e] = table[e % count];
    for (int p = 0; p < 4; ++p) part[p] = _mm512_load_ps(all + 16 * p);
  }
  template <int kParts>
  HWY_INLINE FloatVector look_up(const std::uint8_t* codes) const {
    const __m512i code =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
    if constexpr (kParts == 1) return FloatVector{_mm512_permutexvar_ps(code, part[0])};
    const __m512 low = _mm512_permutex2var_ps(part[0], code, part[1]);
    if constexpr (kParts == 2) return FloatVector{low};
    const __m512 high = _mm512_permutex2var_ps(part[2], code, part[3]);
    return FloatVector{
        _mm512_mask_blend_ps(_mm512_test_epi32_mask(code, _mm512_set1_epi32(32)), low, high)};
  }
};
#endif

template <bool kAdd, class LookUp>
HWY_INLINE std::size_t emit_vectors(std::size_t n, float* values, LookUp&& look_up) {
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    auto value = look_up(i);
    if constexpr (kAdd) {
      prefetch_ahead(values + i);
      value = hn::Add(hn::LoadU(FloatTag(), values + i), value);
    }
    hn::StoreU(value, FloatTag(), values + i);
  }
  return i;
}

template <bool kAdd>
HWY_INLINE void decode_table(const std::uint8_t* codes, std::size_t n, const float* table,
                             int entries, float* values) {
  std::size_t i = 0;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (entries <= 64) {
    const RegisterTable registers(table, entries);
    if (entries <= 16)
      i = emit_vectors<kAdd>(
          n, values, [&](std::size_t at) HWY_ATTR { return registers.look_up<1>(codes + at); });
    else if (entries == 32)
      i = emit_vectors<kAdd>(
          n, values, [&](std::size_t at) HWY_ATTR { return registers.look_up<2>(codes + at); });
    else
      i = emit_vectors<kAdd>(
          n, values, [&](std::size_t at) HWY_ATTR { return registers.look_up<4>(codes + at); });
  }
#elif HWY_TARGET == HWY_AVX2
  if (entries <= 8) {
    float all[8];
    for (int e = 0; e < 8; ++e) all[e] = table[e % entries];
    const __m256 registers = _mm256_loadu_ps(all);
    i = emit_vectors<kAdd>(n, values, [&](std::size_t at) HWY_ATTR {
      const __m256i code =
          _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes + at)));
      return FloatVector{_mm256_permutevar8x32_ps(registers, code)};
    });
  }
#endif
  for (; i < n; ++i) values[i] = kAdd ? values[i] + table[codes[i]] : table[codes[i]];
}

HWY_ATTR void TableValues(const std::uint8_t* codes, std::size_t n, const float* table, int entries,
                          Output output, float* values) {
  if (output == Output::kAdd) {
    decode_table<true>(codes, n, table, entries, values);
    return;
  }
  make_output<4>(n, output == Output::kStream, values,
                 [&](std::size_t begin, std::size_t count, void* to) HWY_ATTR {
                   decode_table<false>(codes + begin, count, table, entries,
                                       static_cast<float*>(to));
                 });
}

// ---- bits
HWY_INLINE void put_bit(std::byte* bits, std::size_t i, std::uint32_t bit) {
  if (i % 8 == 0) bits[i / 8] = std::byte{0};
  bits[i / 8] |= static_cast<std::byte>(bit << (i % 8));
}

HWY_ATTR std::uint32_t PositiveBits(const float* values, std::size_t n, std::byte* bits) {
  auto largest = hn::Zero(IntTag());
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 64 <= n; i += 64) {
    std::uint64_t negative = 0;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < 64; v += kFloats) {
      const auto value = hn::LoadU(FloatTag(), values + i + v);
      largest = hn::Max(largest, magnitudes(value));
      prefetch_ahead(values + i + v);
      negative |= std::uint64_t{mask_bits(hn::Lt(value, hn::Zero(FloatTag())))} << v;
    }
    const std::uint64_t positive = ~negative;
    std::memcpy(bits + i / 8, &positive, 8);
  }
#endif
  std::uint32_t seen = reduce_max(largest);
  for (; i < n; ++i) {
    seen = std::max(seen, magnitude_bits(values[i]));
    put_bit(bits, i, values[i] < 0.0f ? 0u : 1u);
  }
  return seen;
}

struct BinaryEncoder {
  const float* values;
  std::byte* bits;
  std::uint32_t seen = 0;
  IntVector largest = hn::Zero(IntTag());

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    const FloatTag d;
    const auto scale = hn::Set(d, 8388608.0f);
    std::uint64_t drawn = 0;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const auto value = hn::LoadU(d, values + i + v * kFloats);
      largest = hn::Max(largest, magnitudes(value));
      const auto word = hn::BitCast(IntTag(), hn::ShiftRight<8>(words.vector[v]));
      const auto draw = hn::Sub(hn::ConvertTo(d, word), scale);
      drawn |= std::uint64_t{mask_bits(hn::Lt(draw, hn::Mul(value, scale)))} << (v * kFloats);
    }
    std::memcpy(bits + i / 8, &drawn, 8);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) {
    for (std::size_t j = 0; j < count; ++j) {
      seen = std::max(seen, magnitude_bits(values[i + j]));
      put_bit(bits, i + j, binary_draw(values[i + j], words[j]));
    }
  }
};

HWY_ATTR std::uint32_t DrawnBits(const float* values, std::size_t n, const Draws& draws,
                                 std::size_t begin, std::byte* bits) {
  BinaryEncoder encoder{values, bits};
  for_words(draws, begin, n, encoder);
  return std::max(encoder.seen, reduce_max(encoder.largest));
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(LogCodes);
HWY_EXPORT(DeadZoneCodes);
HWY_EXPORT(LowbitCodes);
HWY_EXPORT(UnitCodes);
HWY_EXPORT(StepCodes);
HWY_EXPORT(Products);
HWY_EXPORT(TableValues);
HWY_EXPORT(PositiveBits);
HWY_EXPORT(DrawnBits);

std::uint32_t log_codes(const float* values, std::size_t n, int emax, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(LogCodes)(values, n, emax, codes);
}
std::uint32_t dead_zone_codes(const float* values, std::size_t n, const DeadZoneGrid& grid,
                              std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(DeadZoneCodes)(values, n, grid, codes);
}
std::uint32_t lowbit_codes(const float* values, std::size_t n, const LowbitThresholds& thresholds,
                           int middle, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(LowbitCodes)(values, n, thresholds, middle, codes);
}
std::uint32_t unit_codes(const float* values, std::size_t n, int bits, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(UnitCodes)(values, n, bits, codes);
}
std::uint32_t step_codes(const float* values, std::size_t n, float step, int bits,
                         std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(StepCodes)(values, n, step, bits, codes);
}
LowbitProducts lowbit_products(const float* values, std::size_t n,
                               const LowbitThresholds& thresholds, const LowbitTable& table) {
  return HWY_DYNAMIC_DISPATCH(Products)(values, n, thresholds, table);
}
void table_values(const std::uint8_t* codes, std::size_t n, const float* table, int entries,
                  Output output, float* values) {
  HWY_DYNAMIC_DISPATCH(TableValues)(codes, n, table, entries, output, values);
}
std::uint32_t positive_bits(const float* values, std::size_t n, std::byte* bits) {
  return HWY_DYNAMIC_DISPATCH(PositiveBits)(values, n, bits);
}
std::uint32_t drawn_bits(const float* values, std::size_t n, const Draws& draws, std::size_t begin,
                         std::byte* bits) {
  return HWY_DYNAMIC_DISPATCH(DrawnBits)(values, n, draws, begin, bits);
}

}  // namespace gradwire::compressors::kernels
#endif
