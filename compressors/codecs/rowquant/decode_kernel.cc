#include "compressors/codecs/rowquant/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/rowquant/decode_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/emit-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

struct SymmetricDecode {
  static constexpr CodeForm kForm = CodeForm::kClean;
  static constexpr bool kScaled = false;
  float scale, top, inverse_top;

  HWY_INLINE LevelVector value(const LevelWords& code, [[maybe_unused]] std::size_t i) const {
    const LevelTag d;
    const auto level = hn::ConvertTo(d, hn::BitCast(LevelIntTag(), code));
    const auto position = hn::Sub(hn::Add(level, level), hn::Set(d, top));
    return hn::Mul(hn::Set(d, scale), hn::Mul(position, hn::Set(d, inverse_top)));
  }
  HWY_INLINE float scalar(std::uint32_t code, [[maybe_unused]] std::size_t i) const {
    return symmetric_value(code, scale, top, inverse_top);
  }
};

HWY_ATTR void SymmetricValues(const PackedCodes& codes, std::size_t n, float scale, float top,
                              Output output, float factor, float* values) {
  emit_by_code(SymmetricDecode{scale, top, 1.0f / top}, codes, n, output, factor, values);
}

struct ScaledDecode {
  static constexpr CodeForm kForm = CodeForm::kClean;
  static constexpr bool kScaled = false;
  const float* scales;
  float half, inverse_half;

  HWY_INLINE LevelVector value(const LevelWords& code, [[maybe_unused]] std::size_t i) const {
    const LevelTag d;
    const auto level = hn::ConvertTo(d, hn::BitCast(LevelIntTag(), code));
    const auto part = hn::Mul(hn::Sub(level, hn::Set(d, half)), hn::Set(d, inverse_half));
    return hn::Mul(part, hn::LoadU(d, scales + i));
  }
  HWY_INLINE float scalar(std::uint32_t code, [[maybe_unused]] std::size_t i) const {
    return scaled_value(code, scales[i], half, inverse_half);
  }
};

HWY_ATTR void ScaledValues(const PackedCodes& codes, const float* scales, std::size_t n, float half,
                           Output output, float factor, float* values) {
  emit(ScaledDecode{scales, half, 1.0f / half}, codes, n, output, factor, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(SymmetricValues);
HWY_EXPORT(ScaledValues);

void symmetric_values(const PackedCodes& codes, std::size_t n, float scale, float top,
                      Output output, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(SymmetricValues)(codes, n, scale, top, output, factor, values);
}
void scaled_values(const PackedCodes& codes, const float* scales, std::size_t n, float half,
                   Output output, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(ScaledValues)(codes, scales, n, half, output, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
