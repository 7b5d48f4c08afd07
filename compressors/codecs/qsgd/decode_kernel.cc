#include "compressors/codecs/qsgd/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/qsgd/decode_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/emit-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

struct NormDecode {
  static constexpr CodeForm kForm = CodeForm::kClean;
  static constexpr bool kScaled = false;
  NormGrid grid;
  int bits;

  HWY_INLINE LevelVector value(const LevelWords& code, [[maybe_unused]] std::size_t i) const {
    const LevelTag d;
    const LevelWordTag dw;
    const auto level_bits = hn::And(code, hn::Set(dw, (1u << (bits - 1)) - 1));
    const auto level = hn::ConvertTo(d, hn::BitCast(LevelIntTag(), level_bits));
    const auto magnitude = hn::Min(hn::Mul(level, hn::Set(d, grid.unit)), hn::Set(d, grid.norm));
    const auto sign = hn::And(hn::ShiftLeftSame(code, 32 - bits), hn::Set(dw, 0x80000000u));
    return hn::BitCast(d, hn::Or(hn::BitCast(dw, magnitude), sign));
  }
  HWY_INLINE float scalar(std::uint32_t code, [[maybe_unused]] std::size_t i) const {
    return norm_code_value(code, grid, bits);
  }
};

HWY_ATTR void NormValues(const PackedCodes& codes, std::size_t n, const NormGrid& grid, int bits,
                         Output output, float factor, float* values) {
  emit_by_code(NormDecode{grid, bits}, codes, n, output, factor, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(NormValues);

void norm_values(const PackedCodes& codes, std::size_t n, const NormGrid& grid, int bits,
                 Output output, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(NormValues)(codes, n, grid, bits, output, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
