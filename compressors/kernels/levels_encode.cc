#include "compressors/kernels/levels.h"

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/levels_encode.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/grid_encoder-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

HWY_ATTR void DrawnCodes(const float* values, std::size_t n, const LevelGrid& grid,
                         const Draws& draws, std::size_t begin, std::uint8_t* codes) {
  encode_drawn(GridEncoder<LevelRounding::kDrawn, ByteWriter>{values, grid, {codes}}, grid.wide,
               draws, begin, n);
}

HWY_ATTR void LevelCodes(const float* values, std::size_t n, const LevelGrid& grid,
                         LevelRounding rounding, const Draws& draws, std::size_t begin,
                         const CodeOutput& codes) {
  if (rounding == LevelRounding::kDrawn)
    return DrawnCodes(values, n, grid, draws, begin, reinterpret_cast<std::uint8_t*>(codes.bytes));
  const GridEncoder<LevelRounding::kHalfUp> half_up{values, grid, {codes, n}};
  const GridEncoder<LevelRounding::kHalfToEven> to_even{values, grid, {codes, n}};
  const bool up = rounding == LevelRounding::kHalfUp;
  if (grid.wide)
    up ? half_up.tail(0, n, nullptr) : to_even.tail(0, n, nullptr);
  else
    up ? encode_all(half_up, 0, n) : encode_all(to_even, 0, n);
}

struct ScaledEncoder {
  const float* values;
  const float* inverses;
  float half;
  std::uint8_t* codes;

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void unit(std::size_t i, const WordUnit&) const {
    const LevelTag d;
    const LevelIntTag di;
    const auto lowest = hn::Set(d, -half), highest = hn::Set(d, half - 1.0f);
    const auto offset = hn::Set(di, static_cast<std::int32_t>(half));
    WordUnit out;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const std::size_t at = i + v * kLevelLanes;
      const auto a = hn::Mul(hn::LoadU(d, values + at), hn::LoadU(d, inverses + at));
      const auto clipped = hn::Max(hn::Min(a, highest), lowest);
      out.vector[v] = hn::BitCast(WordTag(), hn::Add(hn::NearestInt(clipped), offset));
    }
    store_unit_codes<0>(out, codes + i);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t*) const {
    for (std::size_t j = i; j < i + count; ++j)
      codes[j] = static_cast<std::uint8_t>(scaled_code(values[j], inverses[j], half));
  }
};

HWY_ATTR void ScaledCodes(const float* values, const float* inverses, std::size_t n, float half,
                          std::uint8_t* codes) {
  encode_all(ScaledEncoder{values, inverses, half, codes}, 0, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(LevelCodes);
HWY_EXPORT(ScaledCodes);

void level_codes(const float* values, std::size_t n, const LevelGrid& grid, LevelRounding rounding,
                 const Draws& draws, std::size_t begin, const CodeOutput& codes) {
  GRADWIRE_ASSERT(rounding != LevelRounding::kDrawn || codes.bits == 8);
  HWY_DYNAMIC_DISPATCH(LevelCodes)(values, n, grid, rounding, draws, begin, codes);
}
void scaled_codes(const float* values, const float* inverses, std::size_t n, float half,
                  std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(ScaledCodes)(values, inverses, n, half, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
