#include "compressors/kernels/table_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/table_values.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// Up to 64 entries in registers.
struct RegisterTable {
  __m512 part[4];
  int entries;
  HWY_INLINE RegisterTable(const float* table, int count) : entries(count) {
    alignas(64) float all[64];
    for (int e = 0; e < 64; ++e) all[e] = table[e % count];
    for (int p = 0; p < 4; ++p) part[p] = _mm512_load_ps(all + 16 * p);
  }
  template <int kParts>
  HWY_INLINE FloatVector look_up(const std::uint8_t* codes) const {
    const __m512i code =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
    if constexpr (kParts == 1) return FloatVector{_mm512_permutexvar_ps(code, part[0])};
    const __m512 low = _mm512_permutex2var_ps(part[0], code, part[1]);
    if constexpr (kParts == 2) return FloatVector{low};
    const __m512 high = _mm512_permutex2var_ps(part[2], code, part[3]);
    return FloatVector{
        _mm512_mask_blend_ps(_mm512_test_epi32_mask(code, _mm512_set1_epi32(32)), low, high)};
  }
};
#endif

template <bool kAdd, class LookUp>
HWY_INLINE std::size_t emit_vectors(std::size_t n, float* values, LookUp&& look_up) {
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    auto value = look_up(i);
    if constexpr (kAdd) {
      prefetch_ahead(values + i);
      value = hn::Add(hn::LoadU(FloatTag(), values + i), value);
    }
    hn::StoreU(value, FloatTag(), values + i);
  }
  return i;
}

template <bool kAdd>
HWY_INLINE void decode_table(const std::uint8_t* codes, std::size_t n, const float* table,
                             [[maybe_unused]] int entries, float* values) {
  std::size_t i = 0;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (entries <= 64) {
    const RegisterTable registers(table, entries);
    if (entries <= 16)
      i = emit_vectors<kAdd>(
          n, values, [&](std::size_t at) HWY_ATTR { return registers.look_up<1>(codes + at); });
    else if (entries == 32)
      i = emit_vectors<kAdd>(
          n, values, [&](std::size_t at) HWY_ATTR { return registers.look_up<2>(codes + at); });
    else
      i = emit_vectors<kAdd>(
          n, values, [&](std::size_t at) HWY_ATTR { return registers.look_up<4>(codes + at); });
  }
#elif HWY_TARGET == HWY_AVX2
  if (entries <= 8) {
    float all[8];
    for (int e = 0; e < 8; ++e) all[e] = table[e % entries];
    const __m256 registers = _mm256_loadu_ps(all);
    i = emit_vectors<kAdd>(n, values, [&](std::size_t at) HWY_ATTR {
      const __m256i code =
          _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes + at)));
      return FloatVector{_mm256_permutevar8x32_ps(registers, code)};
    });
  }
#endif
  for (; i < n; ++i) values[i] = kAdd ? values[i] + table[codes[i]] : table[codes[i]];
}

HWY_ATTR void TableValues(const std::uint8_t* codes, std::size_t n, const float* table, int entries,
                          Output output, float* values) {
  if (output == Output::kAdd) {
    decode_table<true>(codes, n, table, entries, values);
    return;
  }
  make_output<4>(n, output == Output::kStream, values,
                 [&](std::size_t begin, std::size_t count, void* to) HWY_ATTR {
                   decode_table<false>(codes + begin, count, table, entries,
                                       static_cast<float*>(to));
                 });
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(TableValues);

void table_values(const std::uint8_t* codes, std::size_t n, const float* table, int entries,
                  Output output, float* values) {
  HWY_DYNAMIC_DISPATCH(TableValues)(codes, n, table, entries, output, values);
}

}  // namespace gradwire::compressors::kernels
#endif
