#include "compressors/kernels/ternary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/ternary.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/philox-inl.h"
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {

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

/// kLift: the rule lifts magnitudes out of the subnormals.
template <bool kLift>
struct TernaryEncoder {
  const float* values;
  TernaryRule rule;
  std::byte* codes;
  IntVector largest = hn::Zero(IntTag());
  std::uint32_t tail_largest = 0;

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    const FloatTag d;
    std::uint64_t kept = 0, negative = 0;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const auto value = hn::LoadU(d, values + i + v * kFloats);
      auto magnitude = hn::Abs(value);
      largest = hn::Max(largest, hn::BitCast(IntTag(), magnitude));
      if constexpr (kLift) magnitude = hn::Mul(magnitude, hn::Set(d, rule.lift));
      const auto word = hn::ShiftRight<8>(words.vector[v]);
      const auto draw = hn::ConvertTo(d, hn::BitCast(IntTag(), word));
      const auto keep = hn::Lt(hn::Mul(draw, hn::Set(d, rule.unit)), magnitude);
      kept |= std::uint64_t{mask_bits(keep)} << (v * kFloats);
      negative |= std::uint64_t{mask_bits(hn::MaskFromVec(value))} << (v * kFloats);
    }
    prefetch_ahead(values + i);
    prefetch_ahead(values + i + 16);
    prefetch_ahead(values + i + 32);
    prefetch_ahead(values + i + 48);
    const std::uint64_t positive = kept & ~negative;
    const std::uint64_t packed[2] = {spread_bits(static_cast<std::uint32_t>(~kept)) |
                                         spread_bits(static_cast<std::uint32_t>(positive)) << 1,
                                     spread_bits(static_cast<std::uint32_t>(~kept >> 32)) |
                                         spread_bits(static_cast<std::uint32_t>(positive >> 32))
                                             << 1};
    std::memcpy(codes + i / 4, packed, 16);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) {
    for (std::size_t j = 0; j < count; ++j) {
      const float value = values[i + j];
      if (j % 4 == 0) codes[(i + j) / 4] = std::byte{0};
      const int code = ternary_term(value, ternary_draw(words[j]), rule) + 1;
      codes[(i + j) / 4] |= static_cast<std::byte>(code << (2 * (j % 4)));
      tail_largest = std::max(tail_largest, magnitude_bits(value));
    }
  }
};

template <bool kLift>
HWY_INLINE std::uint32_t encode_ternary(const float* values, std::size_t n, const Draws& draws,
                                        std::size_t begin, TernaryRule rule, std::byte* codes) {
  TernaryEncoder<kLift> encoder{values, rule, codes};
  for_words(draws, begin, n, encoder);
  return std::max(reduce_max(encoder.largest), encoder.tail_largest);
}

HWY_ATTR std::uint32_t TernaryCodes(const float* values, std::size_t n, const Draws& draws,
                                    std::size_t begin, TernaryRule rule, std::byte* codes) {
  if (rule.lift != 1.0f) return encode_ternary<true>(values, n, draws, begin, rule, codes);
  return encode_ternary<false>(values, n, draws, begin, rule, codes);
}

/// scale * (code - 1) for kFloats codes, by a table of the four products.
struct TernaryDecoder {
  float scale;

  HWY_INLINE float scalar(const std::byte* codes, std::size_t i) const {
    return ternary_value(std::to_integer<std::uint32_t>(codes[i / 4] >> (2 * (i % 4))) & 3u, scale);
  }
#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE FloatVector vector(std::uint32_t packed) const {
    const FloatTag d;
    const UintTag dw;
    const auto shifts = hn::Add(hn::Iota(dw, 0), hn::Iota(dw, 0));
    const auto code = hn::Shr(hn::Set(dw, packed), shifts);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    const __m512 table =
        _mm512_broadcast_f32x4(_mm_setr_ps(-scale, 0.0f * scale, scale, 2.0f * scale));
    return FloatVector{_mm512_permutevar_ps(table, code.raw)};  // by the low two bits
#else
    const auto low = hn::BitCast(IntTag(), hn::And(code, hn::Set(dw, 3)));
    return hn::Mul(hn::ConvertTo(d, hn::Sub(low, hn::Set(IntTag(), 1))), hn::Set(d, scale));
#endif
  }
#endif
};

template <bool kAdd>
HWY_INLINE void decode_ternary(const std::byte* codes, std::size_t n, TernaryDecoder decoder,
                               float* values) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const FloatTag d;
  for (; i + 64 <= n; i += 64) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < 64; j += kFloats) {
      std::uint32_t packed = 0;
      std::memcpy(&packed, codes + (i + j) / 4, kFloats / 4);
      auto value = decoder.vector(packed);
      if constexpr (kAdd) value = hn::Add(hn::LoadU(d, values + i + j), value);
      hn::StoreU(value, d, values + i + j);
    }
  }
#endif
  for (; i < n; ++i) {
    const float value = decoder.scalar(codes, i);
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

HWY_ATTR bool TernaryValues(const std::byte* codes, std::size_t n, float scale, Output output,
                            float* values) {
  const TernaryDecoder decoder{scale};
  if (output == Output::kAdd) {
    decode_ternary<true>(codes, n, decoder, values);
  } else {
    make_output<4>(n, output == Output::kStream, values,
                   [&](std::size_t begin, std::size_t count, void* to) HWY_ATTR {
                     decode_ternary<false>(codes + begin / 4, count, decoder,
                                           static_cast<float*>(to));
                   });
  }
  return has_code_three(codes, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(TernaryCodes);
HWY_EXPORT(TernaryValues);

std::uint32_t ternary_codes(const float* values, std::size_t n, const Draws& draws,
                            std::size_t begin, TernaryRule rule, std::byte* codes) {
  return HWY_DYNAMIC_DISPATCH(TernaryCodes)(values, n, draws, begin, rule, codes);
}
bool ternary_values(const std::byte* codes, std::size_t n, float scale, Output output,
                    float* values) {
  return HWY_DYNAMIC_DISPATCH(TernaryValues)(codes, n, scale, output, values);
}

}  // namespace gradwire::compressors::kernels
#endif
