#include "compressors/kernels/levels.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/levels_decode.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/emit-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

template <bool kEnd>
struct GridDecode {
  static constexpr CodeForm kForm = CodeForm::kClean;
  static constexpr bool kScaled = false;
  LevelGrid grid;
  float end;

  HWY_INLINE LevelVector value(const LevelWords& code, [[maybe_unused]] std::size_t i) const {
    const LevelTag d;
    const auto level = hn::ConvertTo(d, hn::BitCast(LevelIntTag(), code));
    const auto value = hn::Add(hn::Set(d, grid.origin), hn::Mul(hn::Set(d, grid.unit), level));
    if constexpr (!kEnd) return value;
    return hn::IfThenElse(hn::Eq(level, hn::Set(d, grid.top)), hn::Set(d, end), value);
  }
  HWY_INLINE float scalar(std::uint32_t code, [[maybe_unused]] std::size_t i) const {
    if (kEnd && static_cast<float>(code) == grid.top) return end;
    return level_value(code, grid);
  }
};

HWY_ATTR void LevelValues(const PackedCodes& codes, std::size_t n, const LevelGrid& grid, float end,
                          Output output, float factor, float* values) {
  const GridDecode<true> with_end{grid, end};
  const GridDecode<false> plain{grid, end};
  const bool has_end = !std::isnan(end);
  if (has_end && grid.wide)
    emit_scalars(with_end, codes, n, output, factor, values);
  else if (has_end)
    emit(with_end, codes, n, output, factor, values);
  else if (grid.wide)
    emit_scalars(plain, codes, n, output, factor, values);
  else
    emit_by_code(plain, codes, n, output, factor, values);
}

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

HWY_EXPORT(LevelValues);
HWY_EXPORT(SymmetricValues);
HWY_EXPORT(ScaledValues);
HWY_EXPORT(NormValues);

void level_values(const PackedCodes& codes, std::size_t n, const LevelGrid& grid, float end,
                  Output output, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(LevelValues)(codes, n, grid, end, output, factor, values);
}
void symmetric_values(const PackedCodes& codes, std::size_t n, float scale, float top,
                      Output output, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(SymmetricValues)(codes, n, scale, top, output, factor, values);
}
void scaled_values(const PackedCodes& codes, const float* scales, std::size_t n, float half,
                   Output output, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(ScaledValues)(codes, scales, n, half, output, factor, values);
}
void norm_values(const PackedCodes& codes, std::size_t n, const NormGrid& grid, int bits,
                 Output output, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(NormValues)(codes, n, grid, bits, output, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
