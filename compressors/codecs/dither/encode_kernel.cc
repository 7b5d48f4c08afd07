#include "compressors/codecs/dither/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/dither/encode_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/levels-inl.h"
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// kLift: the rule scales magnitudes first.
template <bool kLift>
struct DitherEncoder {
  const float* values;
  std::uint8_t* codes;
  DitherRule rule;
  int bits;

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    const FloatTag d;
    const UintTag du;
    WordUnit out;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const auto value = load_floats(values + i + v * kFloats);
      auto magnitude = hn::Abs(value);
      if constexpr (kLift) magnitude = hn::Mul(magnitude, hn::Set(d, rule.lift));
      const auto y = hn::Min(hn::Mul(magnitude, hn::Set(d, rule.inverse)), hn::Set(d, rule.top));
      const auto small = hn::Lt(y, hn::Set(d, 1.0f));
      const auto z = hn::IfThenElse(small, hn::Add(y, hn::Set(d, 1.0f)), y);
      const auto carry = hn::ShiftRight<9>(hn::Not(words.vector[v]));
      const auto field = hn::ShiftRight<23>(hn::Add(hn::BitCast(du, z), carry));
      const auto zero_field =
          hn::IfThenElse(hn::RebindMask(du, small), hn::Set(du, 127), hn::Set(du, 126));
      const auto level = hn::Sub(field, zero_field);
      const auto sign = hn::ShiftRightSame(sign_of(hn::BitCast(du, value)), 32 - bits);
      const auto some =
          hn::RebindMask(du, hn::Gt(hn::BitCast(IntTag(), level), hn::Zero(IntTag())));
      out.vector[v] = hn::IfThenElseZero(some, hn::Or(level, sign));
      prefetch_ahead(values + i + v * kFloats);
    }
    store_unit_codes<0>(out, codes + i);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) {
    for (std::size_t j = 0; j < count; ++j)
      codes[i + j] = static_cast<std::uint8_t>(dither_code(values[i + j], words[j], rule, bits));
  }
};

HWY_ATTR void DitherCodes(const float* values, std::size_t n, const Draws& draws, std::size_t begin,
                          DitherRule rule, int bits, std::uint8_t* codes) {
  if (rule.lift != 1.0f) {
    DitherEncoder<true> encoder{values, codes, rule, bits};
    for_words(draws, begin, n, encoder);
  } else {
    DitherEncoder<false> encoder{values, codes, rule, bits};
    for_words(draws, begin, n, encoder);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(DitherCodes);

void dither_codes(const float* values, std::size_t n, const Draws& draws, std::size_t begin,
                  DitherRule rule, int bits, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(DitherCodes)(values, n, draws, begin, rule, bits, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
