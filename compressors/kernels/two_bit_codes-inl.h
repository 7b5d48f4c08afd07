// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_TWO_BIT_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_TWO_BIT_CODES_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_TWO_BIT_CODES_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_TWO_BIT_CODES_INL_H_
#endif

#include "compressors/kernels/vectors-inl.h"

/// Codes of two bits, four a byte, the first in the lowest bits.
HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

inline constexpr std::size_t kTwoBitGroup = 64;  ///< codes in 16 bytes

HWY_INLINE std::uint64_t spread_bits(std::uint32_t bits) {  // bit i goes to bit 2 i
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86_64
  return _pdep_u64(bits, 0x5555555555555555ull);
#else
  std::uint64_t x = bits;
  x = (x | x << 16) & 0x0000FFFF0000FFFFull;
  x = (x | x << 8) & 0x00FF00FF00FF00FFull;
  x = (x | x << 4) & 0x0F0F0F0F0F0F0F0Full;
  x = (x | x << 2) & 0x3333333333333333ull;
  return (x | x << 1) & 0x5555555555555555ull;
#endif
}

/// A group of codes from their low and high bits.
HWY_INLINE void store_two_bit_group(std::uint64_t low, std::uint64_t high, std::byte* codes) {
  for (int half = 0; half < 2; ++half, low >>= 32, high >>= 32) {
    const std::uint64_t packed = spread_bits(static_cast<std::uint32_t>(low)) |
                                 spread_bits(static_cast<std::uint32_t>(high)) << 1;
    std::memcpy(codes + 8 * half, &packed, 8);
  }
}

HWY_INLINE std::uint32_t two_bit_code(const std::byte* codes, std::size_t i) {
  return std::to_integer<std::uint32_t>(codes[i / 4] >> (2 * (i % 4))) & 3u;
}

/// What each of the four codes stands for.
struct FourValues {
  float value[4];

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE FloatVector vector(std::uint32_t packed) const {
    const UintTag dw;
    const auto shifts = hn::Add(hn::Iota(dw, 0), hn::Iota(dw, 0));
    const auto code = hn::Shr(hn::Set(dw, packed), shifts);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86  // these select by the low two bits
    return FloatVector{_mm512_permutevar_ps(_mm512_broadcast_f32x4(_mm_loadu_ps(value)), code.raw)};
#elif HWY_TARGET == HWY_AVX2
    const __m128 four = _mm_loadu_ps(value);
    return FloatVector{_mm256_permutevar_ps(_mm256_set_m128(four, four), code.raw)};
#else
    const FloatTag d;
    const auto low = hn::And(code, hn::Set(dw, 3));
    auto values = hn::Set(d, value[0]);
    for (std::uint32_t c = 1; c < 4; ++c)
      values = hn::IfThenElse(hn::RebindMask(d, hn::Eq(low, hn::Set(dw, c))), hn::Set(d, value[c]),
                              values);
    return values;
#endif
  }
#endif
};

template <Output kOutput>
HWY_INLINE bool decode_two_bits(const std::byte* codes, std::size_t n, FourValues table,
                                float* values) {
  std::uint64_t threes = 0;  // a code is 3 where both its bits are set
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + kTwoBitGroup <= n; i += kTwoBitGroup) {
    std::uint64_t words[2];
    std::memcpy(words, codes + i / 4, 16);
    threes |= (words[0] & words[0] >> 1) | (words[1] & words[1] >> 1);
    if (i % 256 == 0) prefetch_ahead(codes + i / 4);
    // Once a line, where put() would ask with each vector.
    if constexpr (kOutput == Output::kAdd)
      for (std::size_t line = 0; line < kTwoBitGroup; line += 16) prefetch_ahead(values + i + line);
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kTwoBitGroup; j += kFloats) {
      const auto packed = static_cast<std::uint32_t>(words[j / 32] >> (2 * j % 64));
      const auto value = table.vector(packed);
      if constexpr (kOutput == Output::kAdd)
        put<Output::kStore>(hn::Add(hn::LoadU(FloatTag(), values + i + j), value), values + i + j);
      else
        put<kOutput>(value, values + i + j);
    }
  }
  threes &= 0x5555555555555555ull;
#endif
  for (; i < n; ++i) {
    const std::uint32_t code = two_bit_code(codes, i);
    threes |= code == 3;
    values[i] = kOutput == Output::kAdd ? values[i] + table.value[code] : table.value[code];
  }
  return threes != 0;
}

/// Returns whether a code is 3.
HWY_INLINE bool two_bit_values(const std::byte* codes, std::size_t n, FourValues table,
                               Output output, float* values) {
  bool threes = false;
  decode_to(output, n, values,
            [&](auto to_memory, std::size_t begin, std::size_t count, float* to) HWY_ATTR {
              constexpr Output kOutput = decltype(to_memory)::value;
              threes |= decode_two_bits<kOutput>(codes + begin / 4, count, table, to);
            });
  return threes;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_TWO_BIT_CODES_INL_H_
