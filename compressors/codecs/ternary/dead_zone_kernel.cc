#include "compressors/codecs/ternary/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/ternary/dead_zone_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/small_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(DeadZoneCodes);

std::uint32_t dead_zone_codes(const float* values, std::size_t n, const DeadZoneGrid& grid,
                              std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(DeadZoneCodes)(values, n, grid, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
