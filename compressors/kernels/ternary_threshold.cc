#include "compressors/kernels/ternary_threshold.h"

#include "compressors/arithmetic/ternary_threshold.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/ternary_threshold.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {

inline constexpr std::size_t kGroup = 64;  ///< elements an iteration: 16 bytes of codes

HWY_INLINE std::uint64_t spread_bits(std::uint32_t bits) {  // bit i goes to bit 2 i
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86_64
  return _pdep_u64(bits, 0x5555555555555555ull);
#else
  std::uint64_t x = bits;
  x = (x | x << 16) & 0x0000FFFF0000FFFFull;
  x = (x | x << 8) & 0x00FF00FF00FF00FFull;
  x = (x | x << 4) & 0x0F0F0F0F0F0F0F0Full;
  x = (x | x << 2) & 0x3333333333333333ull;
  return (x | x << 1) & 0x5555555555555555ull;
#endif
}

HWY_ATTR void ThresholdCodes(const float* values, std::size_t n, std::uint32_t lowest,
                             std::byte* codes) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const FloatTag d;
  const auto below = hn::Set(IntTag(), static_cast<std::int32_t>(lowest) - 1);
  for (; i + kGroup <= n; i += kGroup) {
    std::uint64_t kept = 0, negative = 0;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kGroup; v += kFloats) {
      const auto value = hn::LoadU(d, values + i + v);
      const auto keep = hn::RebindMask(d, hn::Gt(magnitudes(value), below));
      kept |= std::uint64_t{mask_bits(keep)} << v;
      negative |= std::uint64_t{mask_bits(hn::MaskFromVec(value))} << v;
      prefetch_ahead(values + i + v);
    }
    const std::uint64_t plus = kept & ~negative, minus = kept & negative;
    for (int half = 0; half < 2; ++half) {
      const std::uint64_t packed = spread_bits(static_cast<std::uint32_t>(plus >> (32 * half))) |
                                   spread_bits(static_cast<std::uint32_t>(minus >> (32 * half)))
                                       << 1;
      std::memcpy(codes + i / 4 + 8 * half, &packed, 8);
    }
  }
#endif
  for (; i < n; ++i) {
    if (i % 4 == 0) codes[i / 4] = std::byte{0};
    codes[i / 4] |= static_cast<std::byte>(threshold_code(values[i], lowest) << (2 * (i % 4)));
  }
}

#if HWY_TARGET != HWY_SCALAR
/// kFloats codes, the first in the lowest bits.
HWY_INLINE FloatVector threshold_vector(std::uint32_t packed, float level) {
  const UintTag dw;
  const auto shifts = hn::Add(hn::Iota(dw, 0), hn::Iota(dw, 0));
  const auto code = hn::Shr(hn::Set(dw, packed), shifts);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const __m512 table = _mm512_broadcast_f32x4(_mm_setr_ps(0.0f, level, -level, 0.0f));
  return FloatVector{_mm512_permutevar_ps(table, code.raw)};  // by the low two bits
#else
  const auto one = hn::Set(dw, 1);
  const auto plus = hn::And(code, one), minus = hn::And(hn::ShiftRight<1>(code), one);
  const auto either = hn::Ne(plus, minus);  // neither in 0 nor in 3
  const auto sign = hn::ShiftLeft<31>(minus);
  const auto magnitude = hn::BitCast(dw, hn::Set(FloatTag(), level));
  return hn::BitCast(FloatTag(), hn::IfThenElseZero(either, hn::Xor(magnitude, sign)));
#endif
}
#endif

template <bool kAdd>
HWY_INLINE void decode_threshold(const std::byte* codes, std::size_t n, float level,
                                 float* values) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const FloatTag d;
  for (; i + kGroup <= n; i += kGroup) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kGroup; v += kFloats) {
      std::uint32_t packed = 0;
      std::memcpy(&packed, codes + (i + v) / 4, kFloats / 4);
      auto value = threshold_vector(packed, level);
      if constexpr (kAdd) {
        prefetch_ahead(values + i + v);
        value = hn::Add(hn::LoadU(d, values + i + v), value);
      }
      hn::StoreU(value, d, values + i + v);
    }
  }
#endif
  const float table[4] = {threshold_value(0, level), threshold_value(1, level),
                          threshold_value(2, level), 0.0f};
  for (; i < n; ++i) {
    const float value = table[static_cast<int>(codes[i / 4] >> (2 * (i % 4)) & std::byte{3})];
    values[i] = kAdd ? values[i] + value : value;
  }
}

/// Both bits of a code set is code 3.
HWY_INLINE bool has_code_three(const std::byte* codes, std::size_t n) {
  std::uint64_t bad = 0;
  std::size_t at = 0;
  for (; 4 * at + 32 <= n; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, codes + at, 8);
    bad |= word & (word >> 1) & 0x5555555555555555ull;
  }
  for (std::size_t i = 4 * at; i < n; ++i)
    bad |= (codes[i / 4] >> (2 * (i % 4)) & std::byte{3}) == std::byte{3};
  return bad != 0;
}

HWY_ATTR bool ThresholdValues(const std::byte* codes, std::size_t n, float level, Output output,
                              float* values) {
  bool bad = false;
  if (output == Output::kAdd) {
    decode_threshold<true>(codes, n, level, values);
    return has_code_three(codes, n);
  }
  make_output<4>(n, output == Output::kStream, values,
                 [&](std::size_t begin, std::size_t count, void* to) HWY_ATTR {
                   decode_threshold<false>(codes + begin / 4, count, level,
                                           static_cast<float*>(to));
                   bad |= has_code_three(codes + begin / 4, count);
                 });
  return bad;
}

HWY_ATTR void CountMagnitudes(const float* values, std::size_t n, std::uint64_t* bins) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t magnitude = magnitude_bits(values[i]);
    if (i % 16 == 0) prefetch_ahead(values + i);
    bins[magnitude >> kBinShift] +=
        (std::uint64_t{1} << kBinCountShift) + (magnitude & ((1u << kBinShift) - 1));
  }
}

HWY_ATTR void CountExactly(const float* values, std::size_t n, std::uint32_t lowest,
                           std::uint32_t size, std::uint32_t* counts) {
  std::size_t i = 0;
  const auto low = hn::Set(IntTag(), static_cast<std::int32_t>(lowest));
  const auto last = hn::Set(IntTag(), static_cast<std::int32_t>(lowest + size - 1));
  for (; i + kFloats <= n; i += kFloats) {
    const auto magnitude = magnitudes(hn::LoadU(FloatTag(), values + i));
    prefetch_ahead(values + i);
    const auto outside = hn::Or(hn::Lt(magnitude, low), hn::Gt(magnitude, last));
    std::uint32_t inside = ~mask_bits(hn::RebindMask(FloatTag(), outside)) & ((1u << kFloats) - 1);
    for (; inside != 0; inside &= inside - 1)
      ++counts[magnitude_bits(values[i + static_cast<std::size_t>(__builtin_ctz(inside))]) -
               lowest];
  }
  for (; i < n; ++i) {
    const std::uint32_t above = magnitude_bits(values[i]) - lowest;
    if (above < size) ++counts[above];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(ThresholdCodes);
HWY_EXPORT(ThresholdValues);
HWY_EXPORT(CountMagnitudes);
HWY_EXPORT(CountExactly);

void threshold_codes(const float* values, std::size_t n, std::uint32_t lowest, std::byte* codes) {
  HWY_DYNAMIC_DISPATCH(ThresholdCodes)(values, n, lowest, codes);
}
bool threshold_values(const std::byte* codes, std::size_t n, float level, Output output,
                      float* values) {
  return HWY_DYNAMIC_DISPATCH(ThresholdValues)(codes, n, level, output, values);
}
void count_magnitudes(const float* values, std::size_t n, std::uint64_t* bins) {
  HWY_DYNAMIC_DISPATCH(CountMagnitudes)(values, n, bins);
}
void count_exactly(const float* values, std::size_t n, std::uint32_t lowest, std::uint32_t size,
                   std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(CountExactly)(values, n, lowest, size, counts);
}

}  // namespace gradwire::compressors::kernels
#endif
