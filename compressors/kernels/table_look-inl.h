// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_TABLE_LOOK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_TABLE_LOOK_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_TABLE_LOOK_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_TABLE_LOOK_INL_H_
#endif

#include "compressors/kernels/levels-inl.h"

/// Tables that stay in registers.
HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Up to 64 entries (AVX-512) or 16 (AVX2): kParts of them, of one vector each; 0 = the table is
/// read from memory.
template <int kParts>
struct TableLook {
  const float* table;
  LevelVector part[kParts == 0 ? 1 : kParts];

  HWY_INLINE TableLook(const float* entries, int count) : table(entries) {
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(LevelTag()));
    for (int p = 0; p < kParts; ++p) {
      float some[16];
      for (int e = 0; e < kLanes; ++e) some[e] = table[(p * kLanes + e) % count];
      part[p] = hn::LoadU(LevelTag(), some);
    }
  }
  HWY_INLINE LevelVector look(const LevelWords& code) const {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    if constexpr (kParts == 1) return LevelVector{_mm512_permutexvar_ps(code.raw, part[0].raw)};
    if constexpr (kParts >= 2) {
      const __m512 low = _mm512_permutex2var_ps(part[0].raw, code.raw, part[1].raw);
      if constexpr (kParts == 2) return LevelVector{low};
      if constexpr (kParts == 4) {
        const __m512 high = _mm512_permutex2var_ps(part[2].raw, code.raw, part[3].raw);
        const __mmask16 upper = _mm512_test_epi32_mask(code.raw, _mm512_set1_epi32(32));
        return LevelVector{_mm512_mask_blend_ps(upper, low, high)};
      }
    }
#elif HWY_TARGET == HWY_AVX2
    if constexpr (kParts >= 1) {
      const __m256 low = _mm256_permutevar8x32_ps(part[0].raw, code.raw);
      if constexpr (kParts == 1) return LevelVector{low};
      if constexpr (kParts == 2) {
        const __m256 high = _mm256_permutevar8x32_ps(part[1].raw, code.raw);
        const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(code.raw, 28));
        return LevelVector{_mm256_blendv_ps(low, high, upper)};
      }
    }
#endif
    return hn::GatherIndex(LevelTag(), table, hn::BitCast(LevelIntTag(), code));
  }
};

/// How many vectors hold a table of so many entries: 1, 2 or 4; 0 = too many.
HWY_INLINE constexpr int table_parts([[maybe_unused]] int entries) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return entries <= 16 ? 1 : entries <= 32 ? 2 : entries <= 64 ? 4 : 0;
#elif HWY_TARGET == HWY_AVX2
  return entries <= 8 ? 1 : entries <= 16 ? 2 : 0;
#else
  return 0;
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_TABLE_LOOK_INL_H_
