#include "compressors/codecs/natural/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/natural/decode_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Decoders give vector(i), the values i and the following, for i + kFloats <= vectors(n), and
/// scalar(i).
template <Output kOutput, class Decoder>
HWY_INLINE void emit(Decoder& decoder, std::size_t begin, std::size_t n, float factor,
                     float* values) {
  const FloatTag d;
  const auto factors = hn::Set(d, factor);
  const std::size_t vectors = std::min(n, std::max(decoder.vectors(), begin) - begin);
  std::size_t i = 0;
  for (; i + 2 * kFloats <= vectors; i += 2 * kFloats) {
#pragma GCC unroll 2
    for (std::size_t j = i; j < i + 2 * kFloats; j += kFloats) {
      put<kOutput>(hn::Mul(factors, decoder.vector(begin + j)), values + j);
    }
  }
  for (; i < n; ++i) {
    const float value = factor * decoder.scalar(begin + i);
    values[i] = kOutput == Output::kAdd ? values[i] + value : value;
  }
}

template <class Decoder>
HWY_INLINE void emit(Decoder& decoder, std::size_t n, Output output, float factor, float* values) {
  decode_to(output, n, values,
            [&](auto to_memory, std::size_t begin, std::size_t count, float* to)
                HWY_ATTR { emit<decltype(to_memory)::value>(decoder, begin, count, factor, to); });
}

struct NineDecoder {
  const std::byte* codes;
  std::size_t n;
  std::uint32_t tail_largest = 0;
  UintVector largest = hn::Zero(UintTag());

  HWY_INLINE float scalar(std::size_t i) {
    std::uint16_t word;  // the two bytes that 9 bits touch
    std::memcpy(&word, codes + i / 8 * 9 + i % 8, 2);
    const std::uint32_t code = word >> (i % 8) & 0x1FFu;
    tail_largest = std::max(tail_largest, (code & 255u) << 23);
    return natural_value9(code);
  }

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  static constexpr std::size_t kReads = kFloats / 8 * 9 > 16 ? 32 : 16;
  std::size_t vectors() const {  // no read beyond the codes
    const std::size_t bytes = n / 8 * 9;
    return bytes < kReads ? 0 : (bytes - kReads) / 9 * 8 / kFloats * kFloats + kFloats;
  }

#if HWY_TARGET <= HWY_AVX3
  // Lane l's code begins at bit 9 l: in 16-bit word 9 l / 16, and it may reach into the next.
  HWY_INLINE UintVector words(const std::byte* at) const {
    alignas(64) static constexpr auto kIndex = [] {
      struct {
        std::uint16_t index[32];
      } x{};
      for (int l = 0; l < 16; ++l) {
        x.index[2 * l] = static_cast<std::uint16_t>(9 * l / 16);
        x.index[2 * l + 1] = static_cast<std::uint16_t>(9 * l / 16 + 1);
      }
      return x;
    }();
    const __m512i bytes =
        _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
    return UintVector{_mm512_permutexvar_epi16(_mm512_load_si512(kIndex.index), bytes)};
  }
  static constexpr std::uint32_t kUnit = 16;
#else
  HWY_INLINE UintVector words(const std::byte* at) const {
    alignas(32) static constexpr auto kIndex = [] {
      struct {
        std::uint8_t index[32];
      } x{};
      for (int l = 0; l < 8; ++l)
        for (int b = 0; b < 4; ++b)
          x.index[4 * l + b] = static_cast<std::uint8_t>(b < 2 ? l + b : 0x80);
      return x;
    }();
    const __m256i bytes =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    const __m256i index = _mm256_load_si256(reinterpret_cast<const __m256i*>(kIndex.index));
    return UintVector{_mm256_shuffle_epi8(bytes, index)};
  }
  static constexpr std::uint32_t kUnit = 8;
#endif

  HWY_INLINE FloatVector vector(std::size_t i) {
    const UintTag d;
    // Moves bits 9 l mod kUnit and the following to the top.
    const auto lane9 = hn::Mul(hn::Iota(d, 0), hn::Set(d, 9));
    const auto shift = hn::Sub(hn::Set(d, 23), hn::And(lane9, hn::Set(d, kUnit - 1)));
    const auto bits = hn::And(hn::Shl(words(codes + i / 8 * 9), shift), hn::Set(d, 0xFF800000u));
    largest = hn::Max(largest, hn::And(bits, hn::Set(d, kInfinityBits)));
    return hn::BitCast(FloatTag(), bits);
  }
#else
  std::size_t vectors() const {
    return 0;
  }
  HWY_INLINE FloatVector vector(std::size_t) {
    return hn::Zero(FloatTag());
  }
#endif
  HWY_INLINE std::uint32_t largest_field() const {
    return std::max(reduce_max(hn::BitCast(IntTag(), largest)), tail_largest) >> 23;
  }
};

HWY_ATTR std::uint32_t NaturalValues9(const std::byte* codes, std::size_t n, Output output,
                                      float factor, float* values) {
  NineDecoder decoder{codes, n};
  emit(decoder, n, output, factor, values);
  return decoder.largest_field();
}

/// One byte a code, which becomes a 32-bit lane.
struct ByteCodes {
  const std::uint8_t* codes;
  std::size_t n;
  std::size_t vectors() const { return HWY_TARGET == HWY_SCALAR ? 0 : n; }
  HWY_INLINE UintVector load(std::size_t i) const {
    const hn::Rebind<std::uint8_t, FloatTag> d;
    return hn::PromoteTo(UintTag(), hn::LoadU(d, codes + i));
  }
};

struct EightDecoder : ByteCodes {
  std::uint32_t lowest;

  HWY_INLINE float scalar(std::size_t i) const { return natural_value8(codes[i], lowest); }
  HWY_INLINE FloatVector vector(std::size_t i) const {
    const UintTag d;
    const auto code = load(i);
    const auto field = hn::And(code, hn::Set(d, 127));
    const auto exponent = hn::ShiftLeft<23>(hn::Add(field, hn::Set(d, lowest - 1)));
    const auto some = hn::Ne(field, hn::Zero(d));
    const auto sign = hn::ShiftLeft<24>(hn::And(code, hn::Set(d, 128)));
    return hn::BitCast(FloatTag(), hn::Or(sign, hn::IfThenElseZero(some, exponent)));
  }
};

HWY_ATTR void NaturalValues8(const std::byte* codes, std::size_t n, std::uint32_t lowest,
                             Output output, float factor, float* values) {
  EightDecoder decoder{{reinterpret_cast<const std::uint8_t*>(codes), n}, lowest};
  emit(decoder, n, output, factor, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(NaturalValues9);
HWY_EXPORT(NaturalValues8);

std::uint32_t natural_values9(const std::byte* codes, std::size_t n, Output output, float factor,
                              float* values) {
  return HWY_DYNAMIC_DISPATCH(NaturalValues9)(codes, n, output, factor, values);
}
void natural_values8(const std::byte* codes, std::size_t n, std::uint32_t lowest, Output output,
                     float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(NaturalValues8)(codes, n, lowest, output, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
