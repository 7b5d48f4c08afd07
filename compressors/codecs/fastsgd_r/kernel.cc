#include "compressors/codecs/fastsgd_r/kernel.h"

#include "compressors/codecs/fastsgd_r/arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/fastsgd_r/kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/small_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

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

HWY_ATTR void ReachedLevelCodes(const float* values, std::size_t n, const std::uint32_t* least,
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(ReachedLevelCodes);

void level_codes(const float* values, std::size_t n, const std::uint32_t* least, std::size_t levels,
                 int sign_bit, std::uint8_t* codes, std::uint64_t* kept) {
  HWY_DYNAMIC_DISPATCH(ReachedLevelCodes)(values, n, least, levels, sign_bit, codes, kept);
}

}  // namespace gradwire::compressors::kernels
#endif
