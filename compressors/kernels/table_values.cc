#include "compressors/kernels/table_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/table_values.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/levels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Looks codes up, and notes the largest. Tables of up to 64 entries (AVX-512) or 16 (AVX2) stay in
/// registers: kParts of them, of one vector each; 0 = the table is read from memory.
template <int kParts>
struct TableLook {
  const float* table;
  LevelVector part[kParts == 0 ? 1 : kParts];
  mutable LevelWords largest = hn::Zero(LevelWordTag());
  mutable std::uint32_t largest_scalar = 0;

  HWY_INLINE TableLook(const float* entries, int count) : table(entries) {
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(LevelTag()));
    for (int p = 0; p < kParts; ++p) {
      float some[16];
      for (int e = 0; e < kLanes; ++e) some[e] = table[(p * kLanes + e) % count];
      part[p] = hn::LoadU(LevelTag(), some);
    }
  }
  HWY_INLINE LevelVector value(const LevelWords& code, std::size_t) const {
    largest = hn::Max(largest, code);
    return look(code);
  }
  HWY_INLINE float scalar(std::uint32_t code, std::size_t) const {
    largest_scalar = std::max(largest_scalar, code);
    return table[code];
  }
  HWY_INLINE std::uint32_t largest_code() const {
    return std::max(largest_scalar, hn::GetLane(hn::MaxOfLanes(LevelWordTag(), largest)));
  }

 private:
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

template <int kParts>
HWY_INLINE std::uint32_t look_up(const PackedCodes& codes, std::size_t n, const float* table,
                                 int entries, Output output, float* values) {
  const TableLook<kParts> look(table, entries);
  emit(look, codes, n, output, 1.0f, values);
  if (output == Output::kStream) hwy::FlushStream();
  return look.largest_code();
}

HWY_ATTR std::uint32_t TableValues(const PackedCodes& codes, std::size_t n, const float* table,
                                   int entries, Output output, float* values) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (entries <= 16) return look_up<1>(codes, n, table, entries, output, values);
  if (entries <= 32) return look_up<2>(codes, n, table, entries, output, values);
  if (entries <= 64) return look_up<4>(codes, n, table, entries, output, values);
#elif HWY_TARGET == HWY_AVX2
  if (entries <= 8) return look_up<1>(codes, n, table, entries, output, values);
  if (entries <= 16) return look_up<2>(codes, n, table, entries, output, values);
#endif
  return look_up<0>(codes, n, table, entries, output, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(TableValues);

std::uint32_t table_values(const PackedCodes& codes, std::size_t n, const float* table, int entries,
                           Output output, float* values) {
  return HWY_DYNAMIC_DISPATCH(TableValues)(codes, n, table, entries, output, values);
}

}  // namespace gradwire::compressors::kernels
#endif
