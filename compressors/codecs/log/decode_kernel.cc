#include "compressors/arithmetic/power_of_two.h"
#include "compressors/codecs/log/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/log/decode_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/emit-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Exponent fields by subtraction: level c > 0 is 2^(emax + 1 - c).
struct LogDecode {
  static constexpr CodeForm kForm = CodeForm::kTop;
  static constexpr bool kScaled = false;

  int emax;
  /// Else some levels are subnormal.
  bool fits_vectors() const { return emax - (kLogLevels - 1) >= -126 && emax <= 127; }

  HWY_INLINE LevelVector value(const LevelWords& code, std::size_t) const {
    const LevelWordTag dw;
    const auto shifted = hn::ShiftRight<3>(hn::BitCast(LevelIntTag(), code));
    const auto level = hn::And(hn::BitCast(dw, shifted), hn::Set(dw, 0x8F800000u));
    const auto top = hn::Set(dw, static_cast<std::uint32_t>(emax + 128) << 23);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    const __mmask16 some = _mm512_test_epi32_mask(level.raw, _mm512_set1_epi32(0x0F800000));
    const LevelWords value{_mm512_mask_sub_epi32(level.raw, some, top.raw, level.raw)};
    return hn::BitCast(LevelTag(), value);
#else
    const auto zero = hn::Eq(hn::ShiftLeft<1>(level), hn::Zero(dw));
    return hn::BitCast(LevelTag(), hn::IfThenElse(zero, level, hn::Sub(top, level)));
#endif
  }
  HWY_INLINE float scalar(std::uint32_t code, std::size_t) const {
    return log_value(code, emax);
  }
};

HWY_ATTR void LogValues(const PackedCodes& codes, std::size_t n, int emax, Output output,
                        float factor, float* values) {
  const LogDecode decode{emax};
  if (decode.fits_vectors())
    emit(decode, codes, n, output, factor, values);
  else
    emit_scalars(decode, codes, n, output, factor, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(LogValues);

void log_values(const PackedCodes& codes, std::size_t n, int emax, Output output, float factor,
                float* values) {
  HWY_DYNAMIC_DISPATCH(LogValues)(codes, n, emax, output, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
