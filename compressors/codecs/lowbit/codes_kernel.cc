#include "compressors/codecs/lowbit/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/lowbit/codes_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/small_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(LowbitCodes);

std::uint32_t lowbit_codes(const float* values, std::size_t n, const LowbitThresholds& thresholds,
                           int middle, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(LowbitCodes)(values, n, thresholds, middle, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
