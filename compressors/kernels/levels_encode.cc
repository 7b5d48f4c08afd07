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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(LevelCodes);

void level_codes(const float* values, std::size_t n, const LevelGrid& grid, LevelRounding rounding,
                 const Draws& draws, std::size_t begin, const CodeOutput& codes) {
  GRADWIRE_ASSERT(rounding != LevelRounding::kDrawn || codes.bits == 8);
  HWY_DYNAMIC_DISPATCH(LevelCodes)(values, n, grid, rounding, draws, begin, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
