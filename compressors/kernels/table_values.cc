#include "compressors/kernels/table_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/table_values.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/table_look-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Looks codes up, and notes the largest.
template <int kParts>
struct NotingLook {
  TableLook<kParts> table;
  mutable LevelWords largest = hn::Zero(LevelWordTag());
  mutable std::uint32_t largest_scalar = 0;

  HWY_INLINE LevelVector value(const LevelWords& code, std::size_t) const {
    largest = hn::Max(largest, code);
    return table.look(code);
  }
  HWY_INLINE float scalar(std::uint32_t code, std::size_t) const {
    largest_scalar = std::max(largest_scalar, code);
    return table.table[code];
  }
  HWY_INLINE std::uint32_t largest_code() const {
    return std::max(largest_scalar, hn::GetLane(hn::MaxOfLanes(LevelWordTag(), largest)));
  }
};

template <int kParts>
HWY_INLINE std::uint32_t look_up(const PackedCodes& codes, std::size_t n, const float* table,
                                 int entries, Output output, float* values) {
  const NotingLook<kParts> look{TableLook<kParts>(table, entries)};
  emit(look, codes, n, output, 1.0f, values);
  if (output == Output::kStream) hwy::FlushStream();
  return look.largest_code();
}

HWY_ATTR std::uint32_t TableValues(const PackedCodes& codes, std::size_t n, const float* table,
                                   int entries, Output output, float* values) {
  [[maybe_unused]] const int parts = table_parts(entries);
#if (HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86) || HWY_TARGET == HWY_AVX2
  if (parts == 1) return look_up<1>(codes, n, table, entries, output, values);
  if (parts == 2) return look_up<2>(codes, n, table, entries, output, values);
#endif
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (parts == 4) return look_up<4>(codes, n, table, entries, output, values);
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
