// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_GRID_ENCODER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_GRID_ENCODER_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_GRID_ENCODER_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_GRID_ENCODER_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "compressors/kernels/levels-inl.h"

/// Codes of values in one grid.
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

/// Elements begin .. end - 1, which need no words.
template <class Encoder>
HWY_INLINE void encode_all(const Encoder& encoder, std::size_t begin, std::size_t end) {
  std::size_t i = begin;
#if HWY_TARGET != HWY_SCALAR
  const WordUnit none{};
  for (; i + kWordUnit <= end; i += kWordUnit) encoder.unit(i, none);
#endif
  if (i < end) encoder.tail(i, end - i, nullptr);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_GRID_ENCODER_INL_H_
