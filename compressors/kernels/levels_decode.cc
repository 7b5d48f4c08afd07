#include "compressors/kernels/levels.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/levels_decode.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/levels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

template <bool kEnd>
struct GridDecode {
  const std::uint8_t* codes;
  LevelGrid grid;
  float end;

  HWY_INLINE LevelVector vector(std::size_t i) const {
    const LevelTag d;
    const LevelWords code = load_codes(codes + i);
    const auto level = hn::ConvertTo(d, hn::BitCast(LevelIntTag(), code));
    const auto value = hn::Add(hn::Set(d, grid.origin), hn::Mul(hn::Set(d, grid.unit), level));
    if constexpr (!kEnd) return value;
    return hn::IfThenElse(hn::Eq(level, hn::Set(d, grid.top)), hn::Set(d, end), value);
  }
  HWY_INLINE float scalar(std::size_t i) const {
    if (kEnd && static_cast<float>(codes[i]) == grid.top) return end;
    return level_value(codes[i], grid);
  }
};

HWY_ATTR void LevelValues(const std::uint8_t* codes, std::size_t n, const LevelGrid& grid,
                          float end, Sink sink, float factor, float* values) {
  const GridDecode<true> with_end{codes, grid, end};
  const GridDecode<false> plain{codes, grid, end};
  const bool has_end = !std::isnan(end);
  if (grid.wide) {
    emit_scalars(n, sink, factor, values, [&](std::size_t i) HWY_ATTR {
      return has_end ? with_end.scalar(i) : plain.scalar(i);
    });
  } else if (has_end) {
    emit(with_end, n, sink, factor, values);
  } else {
    emit(plain, n, sink, factor, values);
  }
}

struct SymmetricDecode {
  const std::uint8_t* codes;
  float scale, top, inverse_top;

  HWY_INLINE LevelVector vector(std::size_t i) const {
    const LevelTag d;
    const auto level = hn::ConvertTo(d, hn::BitCast(LevelIntTag(), load_codes(codes + i)));
    const auto position = hn::Sub(hn::Add(level, level), hn::Set(d, top));
    return hn::Mul(hn::Set(d, scale), hn::Mul(position, hn::Set(d, inverse_top)));
  }
  HWY_INLINE float scalar(std::size_t i) const {
    return scale * ((2.0f * static_cast<float>(codes[i]) - top) * inverse_top);
  }
};

HWY_ATTR void SymmetricValues(const std::uint8_t* codes, std::size_t n, float scale, float top,
                              Sink sink, float factor, float* values) {
  emit(SymmetricDecode{codes, scale, top, 1.0f / top}, n, sink, factor, values);
}

struct ScaledDecode {
  const std::uint8_t* codes;
  const float* scales;
  float half, inverse_half;

  HWY_INLINE LevelVector vector(std::size_t i) const {
    const LevelTag d;
    const auto level = hn::ConvertTo(d, hn::BitCast(LevelIntTag(), load_codes(codes + i)));
    const auto part = hn::Mul(hn::Sub(level, hn::Set(d, half)), hn::Set(d, inverse_half));
    return hn::Mul(part, hn::LoadU(d, scales + i));
  }
  HWY_INLINE float scalar(std::size_t i) const {
    return (static_cast<float>(codes[i]) - half) * inverse_half * scales[i];
  }
};

HWY_ATTR void ScaledValues(const std::uint8_t* codes, const float* scales, std::size_t n,
                           float half, Sink sink, float factor, float* values) {
  emit(ScaledDecode{codes, scales, half, 1.0f / half}, n, sink, factor, values);
}

struct NormDecode {
  const std::uint8_t* codes;
  NormGrid grid;
  int bits;

  HWY_INLINE LevelVector vector(std::size_t i) const {
    const LevelTag d;
    const LevelWordTag dw;
    const LevelWords code = load_codes(codes + i);
    const auto level_bits = hn::And(code, hn::Set(dw, (1u << (bits - 1)) - 1));
    const auto level = hn::ConvertTo(d, hn::BitCast(LevelIntTag(), level_bits));
    const auto magnitude = hn::Min(hn::Mul(level, hn::Set(d, grid.unit)), hn::Set(d, grid.norm));
    const auto sign = hn::And(hn::ShiftLeftSame(code, 32 - bits), hn::Set(dw, 0x80000000u));
    return hn::BitCast(d, hn::Or(hn::BitCast(dw, magnitude), sign));
  }
  HWY_INLINE float scalar(std::size_t i) const {
    const std::uint32_t code = codes[i];
    return norm_level_value(code & ((1u << (bits - 1)) - 1), code >> (bits - 1) != 0, grid);
  }
};

HWY_ATTR void NormValues(const std::uint8_t* codes, std::size_t n, const NormGrid& grid, int bits,
                         Sink sink, float factor, float* values) {
  emit(NormDecode{codes, grid, bits}, n, sink, factor, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(LevelValues);
HWY_EXPORT(SymmetricValues);
HWY_EXPORT(ScaledValues);
HWY_EXPORT(NormValues);

void level_values(const std::uint8_t* codes, std::size_t n, const LevelGrid& grid, float end,
                  Sink sink, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(LevelValues)(codes, n, grid, end, sink, factor, values);
}
void symmetric_values(const std::uint8_t* codes, std::size_t n, float scale, float top, Sink sink,
                      float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(SymmetricValues)(codes, n, scale, top, sink, factor, values);
}
void scaled_values(const std::uint8_t* codes, const float* scales, std::size_t n, float half,
                   Sink sink, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(ScaledValues)(codes, scales, n, half, sink, factor, values);
}
void norm_values(const std::uint8_t* codes, std::size_t n, const NormGrid& grid, int bits,
                 Sink sink, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(NormValues)(codes, n, grid, bits, sink, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
