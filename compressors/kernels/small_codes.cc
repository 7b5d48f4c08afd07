#include "compressors/kernels/small_codes.h"

#include "compressors/arithmetic/log_levels.h"
#include "compressors/arithmetic/power_of_two.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/small_codes.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {

/// coder.vector gives the codes of kFloats values, coder.scalar that of one.
template <class Coder>
HWY_INLINE std::uint32_t make_codes(const Coder& coder, const float* values, std::size_t n,
                                    std::uint8_t* codes) {
  const hn::Rebind<std::uint8_t, FloatTag> bytes;
  auto largest = hn::Zero(IntTag());
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    const auto value = hn::LoadU(FloatTag(), values + i);
    prefetch_ahead(values + i);
    largest = hn::Max(largest, magnitudes(value));
    hn::StoreU(hn::DemoteTo(bytes, coder.vector(value)), bytes, codes + i);
  }
  std::uint32_t seen = reduce_max(largest);
  for (; i < n; ++i) {
    seen = std::max(seen, magnitude_bits(values[i]));
    codes[i] = static_cast<std::uint8_t>(coder.scalar(values[i]));
  }
  return seen;
}

HWY_INLINE IntVector ints(int value) {
  return hn::Set(IntTag(), value);
}
HWY_INLINE hn::Mask<IntTag> below_zero(FloatVector value) {
  return hn::RebindMask(IntTag(), hn::Lt(value, hn::Zero(FloatTag())));
}

/// Subnormals are 0 here: emax - 30 > -126 + 1.
struct LogCoder {
  int emax;
  static constexpr int kSmallestEmax = -94;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const auto exponent =
        hn::ShiftRight<23>(hn::Add(magnitudes(value), ints(static_cast<int>(kPowerRounding))));
    const auto level = hn::Max(hn::Sub(ints(emax + 128), exponent), ints(1));
    const auto bits = hn::BitCast(UintTag(), value);
    const auto sign =
        hn::BitCast(IntTag(), hn::And(hn::ShiftRight<26>(bits), hn::Set(UintTag(), 32)));
    return hn::IfThenZeroElse(hn::Gt(level, ints(kLogLevels)), hn::Or(level, sign));
  }
  HWY_INLINE std::uint32_t scalar(float value) const { return log_code(value, emax); }
};

HWY_ATTR std::uint32_t LogCodes(const float* values, std::size_t n, int emax, std::uint8_t* codes) {
  if (emax >= LogCoder::kSmallestEmax) return make_codes(LogCoder{emax}, values, n, codes);
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < n; ++i) {
    codes[i] = static_cast<std::uint8_t>(log_code(values[i], emax));
    seen = std::max(seen, magnitude_bits(values[i]));
  }
  return seen;
}

struct DeadZoneCoder {
  DeadZoneGrid grid;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const FloatTag d;
    const auto scaled =
        hn::Mul(hn::Mul(hn::Abs(value), hn::Set(d, grid.lift)), hn::Set(d, grid.inverse));
    const auto nearest =
        hn::Min(hn::Max(hn::Round(scaled), hn::Set(d, 1.0f)), hn::Set(d, grid.top));
    const auto twice = hn::ShiftLeft<1>(hn::ConvertTo(IntTag(), nearest));
    const auto code = hn::IfThenElse(below_zero(value), twice, hn::Sub(twice, ints(1)));
    const auto dead = hn::RebindMask(IntTag(), hn::Lt(scaled, hn::Set(d, grid.dead_zone)));
    return hn::IfThenZeroElse(dead, code);
  }
  HWY_INLINE std::uint32_t scalar(float value) const { return dead_zone_code(value, grid); }
};
HWY_ATTR std::uint32_t DeadZoneCodes(const float* values, std::size_t n, const DeadZoneGrid& grid,
                                     std::uint8_t* codes) {
  return make_codes(DeadZoneCoder{grid}, values, n, codes);
}

struct LowbitCoder {
  LowbitThresholds thresholds;
  int middle;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const FloatTag d;
    if (middle < 0) return hn::IfThenZeroElse(below_zero(value), ints(1));
    const auto magnitude = hn::Abs(value);
    auto level = hn::Zero(IntTag());
    for (const float limit : thresholds.limit) {
      const auto above = hn::RebindMask(IntTag(), hn::Gt(magnitude, hn::Set(d, limit)));
      level = hn::Sub(level, hn::VecFromMask(IntTag(), above));
    }
    return hn::IfThenElse(below_zero(value), hn::Sub(ints(middle), level),
                          hn::Add(ints(middle), level));
  }
  HWY_INLINE std::uint32_t scalar(float value) const {
    return lowbit_code(value, thresholds, middle);
  }
};
HWY_ATTR std::uint32_t LowbitCodes(const float* values, std::size_t n,
                                   const LowbitThresholds& thresholds, int middle,
                                   std::uint8_t* codes) {
  return make_codes(LowbitCoder{thresholds, middle}, values, n, codes);
}

struct UnitCoder {
  int bits;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const FloatTag d;
    if (bits == 1) return hn::IfThenZeroElse(below_zero(value), ints(1));
    const auto clipped = hn::Min(hn::Max(value, hn::Set(d, -1.0f)), hn::Set(d, 1.0f));
    const auto scaled = hn::Mul(clipped, hn::Set(d, 0.5f * static_cast<float>((1u << bits) - 1)));
    const auto below = hn::Floor(scaled);
    const auto code = hn::Add(hn::ConvertTo(IntTag(), below), ints(1 << (bits - 1)));
    const auto tie = hn::RebindMask(IntTag(), hn::Eq(scaled, below));
    return hn::IfThenElse(tie, hn::And(code, ints(~1)), code);
  }
  HWY_INLINE std::uint32_t scalar(float value) const { return unit_code(value, bits); }
};
HWY_ATTR std::uint32_t UnitCodes(const float* values, std::size_t n, int bits,
                                 std::uint8_t* codes) {
  return make_codes(UnitCoder{bits}, values, n, codes);
}

struct StepCoder {
  float step;
  int bits;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const FloatTag d;
    const auto half = hn::Set(d, static_cast<float>(1u << (bits - 1)));
    // Clipped before rounding: the ends are integers, so that it makes no difference.
    const auto level = hn::Min(hn::Max(hn::Div(value, hn::Set(d, step)), hn::Neg(half)),
                               hn::Sub(half, hn::Set(d, 1.0f)));
    return hn::Add(hn::NearestInt(level), hn::ConvertTo(IntTag(), half));
  }
  HWY_INLINE std::uint32_t scalar(float value) const { return step_code(value, step, bits); }
};
HWY_ATTR std::uint32_t StepCodes(const float* values, std::size_t n, float step, int bits,
                                 std::uint8_t* codes) {
  return make_codes(StepCoder{step, bits}, values, n, codes);
}

/// A level is the number of leasts that a magnitude does not reach: comparisons with all of them
/// cost less than a search that branches.
struct LevelCoder {
  const std::uint32_t* least;
  std::size_t levels;
  int sign_bit;
  static constexpr std::size_t kGroup = 64, kTogether = 4;

  /// Of kTogether vectors; returns a bit for each value that is kept.
  HWY_INLINE std::uint64_t vectors(const float* values, std::uint8_t* codes) const {
    const hn::Rebind<std::uint8_t, FloatTag> bytes;
    FloatVector value[kTogether];
    IntVector level[kTogether];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kTogether; ++v) {
      value[v] = load_floats(values + v * kFloats);
      level[v] = hn::Zero(IntTag());
    }
    for (std::size_t q = 0; q < levels; ++q) {
      const auto limit = ints(static_cast<int>(least[q]));
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kTogether; ++v)
        level[v] =
            hn::Sub(level[v], hn::VecFromMask(IntTag(), hn::Gt(limit, magnitudes(value[v]))));
    }
    std::uint64_t kept = 0;
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kTogether; ++v) {
      const auto reached = hn::Gt(ints(static_cast<int>(levels)), level[v]);
      const auto sign = hn::ShiftLeftSame(
          hn::BitCast(IntTag(), hn::ShiftRight<31>(hn::BitCast(UintTag(), value[v]))), sign_bit);
      const auto code = hn::IfThenElseZero(reached, hn::Or(level[v], sign));
      hn::StoreU(hn::DemoteTo(bytes, code), bytes, codes + v * kFloats);
      kept |= std::uint64_t{mask_bits(hn::RebindMask(FloatTag(), reached))} << (v * kFloats);
    }
    return kept;
  }
  HWY_INLINE std::uint64_t group(const float* values, std::uint8_t* codes) const {
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < kGroup; i += kTogether * kFloats)
      kept |= vectors(values + i, codes + i) << i;
    return kept;
  }
  HWY_INLINE std::uint64_t tail(const float* values, std::size_t n, std::uint8_t* codes) const {
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t magnitude = magnitude_bits(values[i]);
      codes[i] = 0;
      if (magnitude < least[levels - 1]) continue;
      const std::uint32_t level = log_level(magnitude, least, static_cast<std::uint32_t>(levels));
      codes[i] = static_cast<std::uint8_t>(level | bits_of(values[i]) >> 31 << sign_bit);
      kept |= std::uint64_t{1} << i;
    }
    return kept;
  }
};

HWY_ATTR void LevelCodes(const float* values, std::size_t n, const std::uint32_t* least,
                         std::size_t levels, int sign_bit, std::uint8_t* codes,
                         std::uint64_t* kept) {
  const LevelCoder coder{least, levels, sign_bit};
  std::size_t i = 0;
  for (; i + LevelCoder::kGroup <= n; i += LevelCoder::kGroup) {
    prefetch_ahead(values + i);
    prefetch_ahead(values + i + 16);
    prefetch_ahead(values + i + 32);
    prefetch_ahead(values + i + 48);
    *kept++ = coder.group(values + i, codes + i);
  }
  if (i < n) *kept = coder.tail(values + i, n - i, codes + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(LogCodes);
HWY_EXPORT(DeadZoneCodes);
HWY_EXPORT(LowbitCodes);
HWY_EXPORT(UnitCodes);
HWY_EXPORT(StepCodes);
HWY_EXPORT(LevelCodes);

std::uint32_t log_codes(const float* values, std::size_t n, int emax, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(LogCodes)(values, n, emax, codes);
}
std::uint32_t dead_zone_codes(const float* values, std::size_t n, const DeadZoneGrid& grid,
                              std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(DeadZoneCodes)(values, n, grid, codes);
}
std::uint32_t lowbit_codes(const float* values, std::size_t n, const LowbitThresholds& thresholds,
                           int middle, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(LowbitCodes)(values, n, thresholds, middle, codes);
}
std::uint32_t unit_codes(const float* values, std::size_t n, int bits, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(UnitCodes)(values, n, bits, codes);
}
std::uint32_t step_codes(const float* values, std::size_t n, float step, int bits,
                         std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(StepCodes)(values, n, step, bits, codes);
}
void level_codes(const float* values, std::size_t n, const std::uint32_t* least, std::size_t levels,
                 int sign_bit, std::uint8_t* codes, std::uint64_t* kept) {
  HWY_DYNAMIC_DISPATCH(LevelCodes)(values, n, least, levels, sign_bit, codes, kept);
}

}  // namespace gradwire::compressors::kernels
#endif
