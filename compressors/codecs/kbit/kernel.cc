#include "compressors/codecs/kbit/kernel.h"

#include "compressors/codecs/kbit/arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/kbit/kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/small_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

struct UnitCoder {
  int bits;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const FloatTag d;
    if (bits == 1) return hn::IfThenZeroElse(below_zero(value), ints(1));
    const auto clipped = hn::Min(hn::Max(value, hn::Set(d, -1.0f)), hn::Set(d, 1.0f));
    const auto scaled = hn::Mul(clipped, hn::Set(d, 0.5f * static_cast<float>((1u << bits) - 1)));
    const auto below = hn::Floor(scaled);
    const auto code = hn::Add(hn::ConvertTo(IntTag(), below), ints(1 << (bits - 1)));
    const auto tie = hn::RebindMask(IntTag(), hn::Eq(scaled, below));
    return hn::IfThenElse(tie, hn::And(code, ints(~1)), code);
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(UnitCodes);
HWY_EXPORT(StepCodes);

std::uint32_t unit_codes(const float* values, std::size_t n, int bits, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(UnitCodes)(values, n, bits, codes);
}
std::uint32_t step_codes(const float* values, std::size_t n, float step, int bits,
                         std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(StepCodes)(values, n, step, bits, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
