#include "compressors/codecs/ternary/kernel.h"

#include "compressors/codecs/ternary/threshold.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/ternary/threshold_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/two_bit_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

inline constexpr std::size_t kGroup = 64;  ///< elements an iteration: 16 bytes of codes

HWY_ATTR void ThresholdCodes(const float* values, std::size_t n, std::uint32_t lowest,
                             std::byte* codes) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const FloatTag d;
  const auto below = hn::Set(IntTag(), static_cast<std::int32_t>(lowest) - 1);
  for (; i + kGroup <= n; i += kGroup) {
    std::uint64_t kept = 0, negative = 0;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kGroup; v += kFloats) {
      const auto value = load_floats(values + i + v);
      const auto keep = hn::RebindMask(d, hn::Gt(magnitudes(value), below));
      kept |= std::uint64_t{mask_bits(keep)} << v;
      negative |= std::uint64_t{mask_bits(hn::MaskFromVec(value))} << v;
      prefetch_ahead(values + i + v);
    }
    store_two_bit_group(kept & ~negative, kept & negative, codes + i / 4);
  }
#endif
  for (; i < n; ++i) {
    if (i % 4 == 0) codes[i / 4] = std::byte{0};
    codes[i / 4] |= static_cast<std::byte>(threshold_code(values[i], lowest) << (2 * (i % 4)));
  }
}

HWY_ATTR bool ThresholdValues(const std::byte* codes, std::size_t n, float level, Output output,
                              float* values) {
  const FourValues table{{threshold_value(0, level), threshold_value(1, level),
                          threshold_value(2, level), threshold_value(3, level)}};
  return two_bit_values(codes, n, table, output, values);
}

HWY_INLINE void count_magnitude(float value, std::uint64_t* bins) {
  const std::uint32_t magnitude = magnitude_bits(value);
  bins[magnitude >> kBinShift] +=
      (std::uint64_t{1} << kBinCountShift) + (magnitude & ((1u << kBinShift) - 1));
}

HWY_ATTR void CountAllMagnitudes(const float* values, std::size_t n, std::uint64_t* bins) {
  constexpr std::size_t kLine = 16;
  std::size_t i = 0;
  for (; i + kLine <= n; i += kLine) {
    prefetch_ahead(values + i);
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kLine; ++v) count_magnitude(values[i + v], bins);
  }
  for (; i < n; ++i) count_magnitude(values[i], bins);
}

HWY_ATTR void CountExactly(const float* values, std::size_t n, std::uint32_t lowest,
                           std::uint32_t size, std::uint32_t* counts) {
  std::size_t i = 0;
  const auto low = hn::Set(IntTag(), static_cast<std::int32_t>(lowest));
  const auto last = hn::Set(IntTag(), static_cast<std::int32_t>(lowest + size - 1));
  for (; i + kFloats <= n; i += kFloats) {
    const auto magnitude = magnitudes(hn::LoadU(FloatTag(), values + i));
    prefetch_ahead(values + i);
    const auto outside = hn::Or(hn::Lt(magnitude, low), hn::Gt(magnitude, last));
    std::uint32_t inside = ~mask_bits(hn::RebindMask(FloatTag(), outside)) & ((1u << kFloats) - 1);
    for (; inside != 0; inside &= inside - 1)
      ++counts[magnitude_bits(values[i + static_cast<std::size_t>(__builtin_ctz(inside))]) -
               lowest];
  }
  for (; i < n; ++i) {
    const std::uint32_t above = magnitude_bits(values[i]) - lowest;
    if (above < size) ++counts[above];
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(ThresholdCodes);
HWY_EXPORT(ThresholdValues);
HWY_EXPORT(CountAllMagnitudes);
HWY_EXPORT(CountExactly);

void threshold_codes(const float* values, std::size_t n, std::uint32_t lowest, std::byte* codes) {
  HWY_DYNAMIC_DISPATCH(ThresholdCodes)(values, n, lowest, codes);
}
bool threshold_values(const std::byte* codes, std::size_t n, float level, Output output,
                      float* values) {
  return HWY_DYNAMIC_DISPATCH(ThresholdValues)(codes, n, level, output, values);
}
void count_magnitudes(const float* values, std::size_t n, std::uint64_t* bins) {
  HWY_DYNAMIC_DISPATCH(CountAllMagnitudes)(values, n, bins);
}
void count_exactly(const float* values, std::size_t n, std::uint32_t lowest, std::uint32_t size,
                   std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(CountExactly)(values, n, lowest, size, counts);
}

}  // namespace gradwire::compressors::kernels
#endif
