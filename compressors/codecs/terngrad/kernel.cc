#include "compressors/codecs/terngrad/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/terngrad/kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/philox-inl.h"
#include "compressors/kernels/two_bit_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

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
      const auto value = load_floats(values + i + v * kFloats);
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
    store_two_bit_group(~kept, positive, codes + i / 4);
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

HWY_ATTR bool TernaryValues(const std::byte* codes, std::size_t n, float scale, Output output,
                            float* values) {
  const FourValues table{{ternary_value(0, scale), ternary_value(1, scale), ternary_value(2, scale),
                          ternary_value(3, scale)}};
  return two_bit_values(codes, n, table, output, values);
}

}  // namespace
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
