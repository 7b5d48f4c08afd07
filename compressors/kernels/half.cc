#include "compressors/kernels/half.h"

#include "compressors/arithmetic/bfloat.h"
#include "compressors/arithmetic/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/half.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

using ShortTag = hn::Rebind<std::uint16_t, FloatTag>;
using ShortVector = hn::Vec<ShortTag>;

struct Binary16 {
  // Highway's emulation truncates where the instruction set has no conversion, so those targets
  // run the shared scalar arithmetic.
#if (HWY_ARCH_X86 && HWY_TARGET >= HWY_SSE4) || HWY_TARGET == HWY_SCALAR
  static constexpr bool kVectors = false;
  static HWY_INLINE ShortVector encode(FloatVector) {
    return hn::Zero(ShortTag());
  }
  static HWY_INLINE FloatVector decode(ShortVector) {
    return hn::Zero(FloatTag());
  }
#else
  static constexpr bool kVectors = true;
  static HWY_INLINE ShortVector encode(FloatVector value) {
    const hn::Rebind<hwy::float16_t, FloatTag> d;
    return hn::BitCast(ShortTag(), hn::DemoteTo(d, value));
  }
  static HWY_INLINE FloatVector decode(ShortVector half) {
    const hn::Rebind<hwy::float16_t, FloatTag> d;
    return hn::PromoteTo(FloatTag(), hn::BitCast(d, half));
  }
#endif
  static std::uint16_t encode(float value) {
    return half_from_float(value);
  }
  static float decode(std::uint16_t half) {
    return float_from_half(half);
  }
};

struct Bfloat16 {
  static constexpr bool kVectors = HWY_TARGET != HWY_SCALAR;
  /// Not for NaN.
  static HWY_INLINE ShortVector encode(FloatVector value) {
    const UintTag d;
    const auto bits = hn::BitCast(d, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7FFF)));
    return hn::DemoteTo(ShortTag(), hn::BitCast(IntTag(), hn::ShiftRight<16>(rounded)));
  }
  static HWY_INLINE FloatVector decode(ShortVector bfloat) {
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(UintTag(), bfloat)));
  }
  static std::uint16_t encode(float value) { return bfloat_from_float(value); }
  static float decode(std::uint16_t bfloat) { return float_from_bfloat(bfloat); }
};

template <class Format>
HWY_INLINE void encode_scalars(const float* values, std::size_t n, float factor,
                               std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t half = Format::encode(factor == 1.0f ? values[i] : factor * values[i]);
    std::memcpy(out + 2 * i, &half, 2);
  }
}

/// Returns the largest magnitude bits.
template <class Format, Output kOutput, bool kScale>
HWY_INLINE std::uint32_t encode_halves(const float* values, std::size_t n, float factor,
                                       std::uint8_t* out) {
  [[maybe_unused]] const auto factors = hn::Set(FloatTag(), factor);
  auto vector_max = hn::Zero(IntTag());
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (Format::kVectors) {
    const hn::Repartition<std::uint8_t, FloatTag> bytes;  // two vectors' halves
    const hn::Repartition<std::uint16_t, FloatTag> shorts;
    for (; i + 2 * kFloats <= n; i += 2 * kFloats) {
      auto low = load_floats(values + i);
      auto high = load_floats(values + i + kFloats);
      vector_max = hn::Max(vector_max, hn::Max(magnitudes(low), magnitudes(high)));
      if constexpr (kScale) {
        low = hn::Mul(factors, low);
        high = hn::Mul(factors, high);
      }
      const auto both =
          hn::BitCast(bytes, hn::Combine(shorts, Format::encode(high), Format::encode(low)));
      if constexpr (kOutput == Output::kStream)
        hn::Stream(both, bytes, out + 2 * i);
      else
        hn::StoreU(both, bytes, out + 2 * i);
      prefetch_ahead(values + i);
      prefetch_ahead(values + i + kFloats);
    }
  }
#endif
  std::uint32_t largest = reduce_max(vector_max);
  for (std::size_t j = i; j < n; ++j) largest = std::max(largest, magnitude_bits(values[j]));
  if (largest > kInfinityBits) i = 0;  // NaNs among the vectors: anew
  encode_scalars<Format>(values + i, n - i, factor, out + 2 * i);
  return largest;
}

template <class Format>
HWY_INLINE std::uint32_t to_halves(const float* values, std::size_t n, float factor, bool streamed,
                                   std::byte* halves) {
  std::uint32_t largest = 0;
  emit_to<2>(streamed ? Output::kStream : Output::kStore, n, halves,
             [&](auto to_memory, std::size_t begin, std::size_t count, std::uint8_t* to) HWY_ATTR {
               constexpr Output kOutput = decltype(to_memory)::value;
               const float* from = values + begin;
               largest = std::max(
                   largest, factor == 1.0f
                                ? encode_halves<Format, kOutput, false>(from, count, factor, to)
                                : encode_halves<Format, kOutput, true>(from, count, factor, to));
             });
  return largest;
}

/// decode: any values[i] from half i.
template <class Format, Output kOutput, bool kScale>
HWY_INLINE void decode_halves(const std::uint8_t* halves, std::size_t n, float factor,
                              float* values) {
  const FloatTag d;
  const auto factors = hn::Set(d, factor);
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (Format::kVectors) {
    const hn::Repartition<std::uint8_t, ShortTag> bytes;
    for (; i + 2 * kFloats <= n; i += 2 * kFloats) {
#pragma GCC unroll 2
      for (std::size_t j = i; j < i + 2 * kFloats; j += kFloats) {
        auto value = Format::decode(hn::BitCast(ShortTag(), hn::LoadU(bytes, halves + 2 * j)));
        if constexpr (kScale) value = hn::Mul(factors, value);
        put<kOutput>(value, values + j);
      }
      // Beside an update in place, the hardware's own prefetcher does better with the second
      // stream.
      if constexpr (kOutput != Output::kAdd) prefetch_ahead(halves + 2 * i);
    }
  }
#else
  (void)factors;
#endif
  for (; i < n; ++i) {
    std::uint16_t half;
    std::memcpy(&half, halves + 2 * i, 2);
    float value = Format::decode(half);
    if (kScale) value = factor * value;
    values[i] = kOutput == Output::kAdd ? values[i] + value : value;
  }
}

template <class Format>
HWY_INLINE void from_halves(const std::byte* halves, std::size_t n, Output output, float factor,
                            float* values) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(halves);
  decode_to(output, n, values,
            [&](auto to_memory, std::size_t begin, std::size_t count, float* to) HWY_ATTR {
              constexpr Output kOutput = decltype(to_memory)::value;
              if (factor == 1.0f)
                decode_halves<Format, kOutput, false>(from + 2 * begin, count, factor, to);
              else
                decode_halves<Format, kOutput, true>(from + 2 * begin, count, factor, to);
            });
}

HWY_ATTR std::uint32_t ToHalf(const float* values, std::size_t n, HalfFormat format, float factor,
                              bool streamed, std::byte* halves) {
  if (format == HalfFormat::kBfloat16)
    return to_halves<Bfloat16>(values, n, factor, streamed, halves);
  return to_halves<Binary16>(values, n, factor, streamed, halves);
}

HWY_ATTR void FromHalf(const std::byte* halves, std::size_t n, HalfFormat format, Output output,
                       float factor, float* values) {
  if (format == HalfFormat::kBfloat16)
    from_halves<Bfloat16>(halves, n, output, factor, values);
  else
    from_halves<Binary16>(halves, n, output, factor, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(ToHalf);
HWY_EXPORT(FromHalf);

std::uint32_t to_half(const float* values, std::size_t n, HalfFormat format, float factor,
                      bool streamed, std::byte* halves) {
  return HWY_DYNAMIC_DISPATCH(ToHalf)(values, n, format, factor, streamed, halves);
}
void from_half(const std::byte* halves, std::size_t n, HalfFormat format, Output output,
               float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(FromHalf)(halves, n, format, output, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
