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
  static HWY_INLINE ShortVector encode(FloatVector value) {
    const UintTag d;
    const auto bits = hn::BitCast(d, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7FFF)));
    const auto quiet = hn::Or(bits, hn::Set(d, 0x400000));
    const auto infinity = hn::Set(IntTag(), static_cast<std::int32_t>(kInfinityBits));
    const auto nan = hn::RebindMask(d, hn::Gt(magnitudes(value), infinity));
    const auto high = hn::ShiftRight<16>(hn::IfThenElse(nan, quiet, rounded));
    return hn::DemoteTo(ShortTag(), hn::BitCast(IntTag(), high));
  }
  static HWY_INLINE FloatVector decode(ShortVector bfloat) {
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(UintTag(), bfloat)));
  }
  static std::uint16_t encode(float value) { return bfloat_from_float(value); }
  static float decode(std::uint16_t bfloat) { return float_from_bfloat(bfloat); }
};

template <class Format>
HWY_INLINE std::uint32_t encode_halves(const float* values, std::size_t n, std::uint8_t* out) {
  auto vector_max = hn::Zero(IntTag());
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (Format::kVectors) {
    const hn::Repartition<std::uint8_t, ShortTag> bytes;
    for (; i + 2 * kFloats <= n; i += 2 * kFloats) {
#pragma GCC unroll 2
      for (std::size_t j = i; j < i + 2 * kFloats; j += kFloats) {
        const auto value = hn::LoadU(FloatTag(), values + j);
        vector_max = hn::Max(vector_max, magnitudes(value));
        hn::StoreU(hn::BitCast(bytes, Format::encode(value)), bytes, out + 2 * j);
        prefetch_ahead(values + j);
      }
    }
  }
#endif
  std::uint32_t largest = reduce_max(vector_max);
  for (; i < n; ++i) {
    const std::uint16_t half = Format::encode(values[i]);
    std::memcpy(out + 2 * i, &half, 2);
    largest = std::max(largest, magnitude_bits(values[i]));
  }
  return largest;
}

template <class Format>
HWY_INLINE std::uint32_t to_halves(const float* values, std::size_t n, bool streamed,
                                   std::byte* halves) {
  std::uint32_t largest = 0;
  make_output<2>(n, streamed, halves,
                 [&](std::size_t begin, std::size_t count, std::uint8_t* to) HWY_ATTR {
                   largest = std::max(largest, encode_halves<Format>(values + begin, count, to));
                 });
  return largest;
}

/// decode: any values[i] from half i.
template <class Format, bool kAdd, bool kScale>
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
        if constexpr (kAdd) value = hn::Add(hn::LoadU(d, values + j), value);
        hn::StoreU(value, d, values + j);
        if constexpr (kAdd) prefetch_ahead(values + j);
      }
      prefetch_ahead(halves + 2 * i);
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
    values[i] = kAdd ? values[i] + value : value;
  }
}

template <class Format>
HWY_INLINE void from_halves(const std::byte* halves, std::size_t n, Output output, float factor,
                            float* values) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(halves);
  if (output == Output::kAdd) return decode_halves<Format, true, true>(from, n, factor, values);
  make_output<4>(n, output == Output::kStream, values,
                 [&](std::size_t begin, std::size_t count, void* to) HWY_ATTR {
                   auto* floats = static_cast<float*>(to);
                   if (factor == 1.0f)
                     decode_halves<Format, false, false>(from + 2 * begin, count, factor, floats);
                   else
                     decode_halves<Format, false, true>(from + 2 * begin, count, factor, floats);
                 });
}

HWY_ATTR std::uint32_t ToHalf(const float* values, std::size_t n, HalfFormat format, bool streamed,
                              std::byte* halves) {
  if (format == HalfFormat::kBfloat16) return to_halves<Bfloat16>(values, n, streamed, halves);
  return to_halves<Binary16>(values, n, streamed, halves);
}

HWY_ATTR void FromHalf(const std::byte* halves, std::size_t n, HalfFormat format, Output output,
                       float factor, float* values) {
  if (format == HalfFormat::kBfloat16)
    from_halves<Bfloat16>(halves, n, output, factor, values);
  else
    from_halves<Binary16>(halves, n, output, factor, values);
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(ToHalf);
HWY_EXPORT(FromHalf);

std::uint32_t to_half(const float* values, std::size_t n, HalfFormat format, bool streamed,
                      std::byte* halves) {
  return HWY_DYNAMIC_DISPATCH(ToHalf)(values, n, format, streamed, halves);
}
void from_half(const std::byte* halves, std::size_t n, HalfFormat format, Output output,
               float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(FromHalf)(halves, n, format, output, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
