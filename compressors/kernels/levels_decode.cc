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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(LevelValues);

void level_values(const PackedCodes& codes, std::size_t n, const LevelGrid& grid, float end,
                  Output output, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(LevelValues)(codes, n, grid, end, output, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
