#include "compressors/kernels/natural.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/dither_decode.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/table_look-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Notes the largest level, and looks values up; for kParts = 0 it works them out.
template <int kParts>
struct DitherDecoder {
  float norm;
  int levels, bits;
  TableLook<kParts> table;
  mutable LevelWords largest = hn::Zero(LevelWordTag());
  mutable std::uint32_t largest_scalar = 0;

  HWY_INLINE float scalar(std::uint32_t code, std::size_t) const {
    const std::uint32_t level = code & ((1u << (bits - 1)) - 1);
    largest_scalar = level > largest_scalar ? level : largest_scalar;
    return dither_value(code, norm, levels, bits);
  }
  HWY_INLINE LevelVector value(const LevelWords& code, std::size_t) const {
    const LevelWordTag d;
    const auto level = hn::And(code, hn::Set(d, (1u << (bits - 1)) - 1));
    largest = hn::Max(largest, level);
    if constexpr (kParts > 0) return table.look(code);
    const auto field = hn::Add(level, hn::Set(d, static_cast<std::uint32_t>(127 - levels)));
    const auto power = hn::BitCast(LevelTag(), hn::ShiftLeft<23>(field));
    const auto value = hn::BitCast(d, hn::Mul(power, hn::Set(LevelTag(), norm)));
    const auto sign = hn::And(hn::ShiftLeftSame(code, 32 - bits), hn::Set(d, 0x80000000u));
    const auto some = hn::Ne(level, hn::Zero(d));
    return hn::BitCast(LevelTag(), hn::IfThenElseZero(some, hn::Or(value, sign)));
  }
  HWY_INLINE std::uint32_t largest_level() const {
    return std::max(largest_scalar, hn::GetLane(hn::MaxOfLanes(LevelWordTag(), largest)));
  }
};

template <int kParts>
HWY_INLINE std::uint32_t decode(const PackedCodes& codes, std::size_t n, float norm, int levels,
                                Output output, float factor, float* values) {
  const int entries = 1 << codes.bits;
  float table[128];
  for (int c = 0; c < entries; ++c)
    table[c] = dither_value(static_cast<std::uint32_t>(c), norm, levels, codes.bits);
  const DitherDecoder<kParts> decoder{norm, levels, codes.bits, {table, entries}};
  emit(decoder, codes, n, output, factor, values);
  return decoder.largest_level();
}

HWY_ATTR std::uint32_t DitherValues(const PackedCodes& codes, std::size_t n, float norm, int levels,
                                    Output output, float factor, float* values) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  const int parts = table_parts(1 << codes.bits);
  if (parts == 1) return decode<1>(codes, n, norm, levels, output, factor, values);
  if (parts == 2) return decode<2>(codes, n, norm, levels, output, factor, values);
#endif
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (parts == 4) return decode<4>(codes, n, norm, levels, output, factor, values);
#endif
  return decode<0>(codes, n, norm, levels, output, factor, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(DitherValues);

std::uint32_t dither_values(const PackedCodes& codes, std::size_t n, float norm, int levels,
                            Output output, float factor, float* values) {
  return HWY_DYNAMIC_DISPATCH(DitherValues)(codes, n, norm, levels, output, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
