#include "compressors/kernels/levels.h"

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/levels_encode.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/levels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

template <LevelRounding kRounding, class Writer = CodeWriter>
struct GridEncoder {
  const float* values;
  LevelGrid grid;
  Writer codes;

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE LevelWords levels(std::size_t i) const {
    const LevelTag d;
    const LevelWordTag dw;
    const auto distance = hn::Sub(hn::LoadU(d, values + i), hn::Set(d, grid.origin));
    const auto a = hn::Mul(distance, hn::Set(d, grid.inverse));
    // Adding 2^23 rounds to even and leaves the level in the low byte.
    if constexpr (kRounding == LevelRounding::kHalfToEven)
      return hn::BitCast(dw, hn::Add(a, hn::Set(d, 0x1p23f)));
    const auto raised = hn::Add(a, hn::Set(d, 0.5f));
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    // Adding 2^23 towards zero leaves the level in the low byte, sooner than a conversion.
    return hn::BitCast(dw,
                       LevelVector{_mm512_add_round_ps(raised.raw, _mm512_set1_ps(0x1p23f),
                                                       _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)});
#else
    return hn::BitCast(dw, truncated(raised));
#endif
  }
  /// The level is in the top byte of each lane.
  HWY_INLINE LevelWords drawn_levels(std::size_t i, const LevelWords& words) const {
    const LevelTag d;
    const auto distance = hn::Sub(hn::LoadU(d, values + i), hn::Set(d, grid.origin));
    const auto scaled = hn::Min(hn::Mul(distance, hn::Set(d, grid.inverse * 0x1p24f)),
                                hn::Set(d, grid.top * 0x1p24f));
    return level_in_top_byte(scaled, words);
  }
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) const {
    WordUnit levels_out;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const std::size_t at = i + v * kLevelLanes;
      if constexpr (kRounding == LevelRounding::kDrawn)
        levels_out.vector[v] = drawn_levels(at, words.vector[v]);
      else
        levels_out.vector[v] = levels(at);
    }
    codes.template unit<kRounding == LevelRounding::kDrawn ? 3 : 0>(i, levels_out);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) const {
    codes.tail(i, count, [&](std::size_t j) {
      return level_of(values[j], grid, kRounding, words == nullptr ? 0 : words[j - i] >> 8);
    });
  }
};

/// Elements that need no words.
template <class Encoder>
HWY_INLINE void encode_all(const Encoder& encoder, std::size_t n) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const WordUnit none{};
  for (; i + kWordUnit <= n; i += kWordUnit) encoder.unit(i, none);
#endif
  encoder.tail(i, n - i, nullptr);
}

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
    up ? encode_all(half_up, n) : encode_all(to_even, n);
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
  encode_all(ScaledEncoder{values, inverses, half, codes}, n);
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
