#include "compressors/kernels/table_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/table_values.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/emit-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Reads the table for each code.
struct MemoryTable {
  const float* table;
  HWY_INLINE LevelVector look(const LevelWords& code) const {
    return hn::GatherIndex(LevelTag(), table, hn::BitCast(LevelIntTag(), code));
  }
};

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// 32 or 64 entries in registers.
struct WideTable {
  WideTable(const float* table, bool four_vectors) : four(four_vectors) {
    for (std::size_t p = 0; p < 4; ++p)
      part[p] = hn::LoadU(LevelTag(), table + (four ? p : p % 2) * kLevelLanes);
  }
  HWY_INLINE LevelVector look(const LevelWords& code) const {
    const __m512 low = _mm512_permutex2var_ps(part[0].raw, code.raw, part[1].raw);
    const __m512 high = _mm512_permutex2var_ps(part[2].raw, code.raw, part[3].raw);
    const __mmask16 upper = _mm512_test_epi32_mask(code.raw, _mm512_set1_epi32(32));
    return LevelVector{_mm512_mask_blend_ps(upper, low, high)};
  }
  bool four;
  LevelVector part[4];
};
#endif

/// Notes codes as they are.
template <class Table>
struct NotingLook {
  static constexpr CodeForm kForm = CodeForm::kClean;
  static constexpr bool kScaled = true;

  Table table;
  const float* entries;

  HWY_INLINE LevelVector value(const LevelWords& code, std::size_t) const {
    return table.look(code);
  }
  HWY_INLINE float scalar(std::uint32_t code, std::size_t) const { return entries[code]; }
  HWY_INLINE LevelWords noted(const LevelWords& code) const { return code; }
  HWY_INLINE std::uint32_t noted(std::uint32_t code) const { return code; }
};

template <class Table>
HWY_INLINE std::uint32_t look_up(const Table& table, const PackedCodes& codes, std::size_t n,
                                 const float* entries, Output output, float* values) {
  const std::uint32_t largest =
      emit(NotingLook<Table>{table, entries}, codes, n, output, 1.0f, values);
  if (output == Output::kStream) hwy::FlushStream();
  return largest;
}

HWY_ATTR std::uint32_t TableValues(const PackedCodes& codes, std::size_t n, const float* table,
                                   [[maybe_unused]] int entries, Output output, float* values) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  if (entries <= 16) {
    float all[16];
    for (int c = 0; c < 16; ++c) all[c] = table[c & (entries - 1)];
    return look_up(SmallTable(all), codes, n, table, output, values);
  }
#endif
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (entries <= 64)
    return look_up(WideTable(table, entries == 64), codes, n, table, output, values);
#endif
  return look_up(MemoryTable{table}, codes, n, table, output, values);
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
