#include "compressors/kernels/integers.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/integers.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

HWY_INLINE std::uint32_t low_bits(int width) {
  return (1u << width) - 1u;
}

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86

/// Finds kFloats codes of one width in the bytes that hold them.
class CodeFinder {
 public:
  explicit CodeFinder(int width) : mask_(hn::Set(UintTag(), low_bits(width))) {
    alignas(64) std::uint32_t shift[kFloats];
#if HWY_TARGET <= HWY_AVX3
    alignas(64) std::uint16_t index[2 * kFloats];
    for (std::uint32_t l = 0; l < kFloats; ++l) {
      const std::uint32_t bit = l * static_cast<std::uint32_t>(width);
      shift[l] = bit % 16;
      index[2 * l] = static_cast<std::uint16_t>(bit / 16);
      index[2 * l + 1] = static_cast<std::uint16_t>(bit / 16 + 1);
    }
    index_ = _mm512_load_si512(index);
#else
    alignas(64) std::uint8_t index[4 * kFloats];
    for (std::uint32_t l = 0; l < kFloats; ++l) {
      const std::uint32_t bit = l * static_cast<std::uint32_t>(width);
      shift[l] = bit % 8;
      for (std::uint32_t b = 0; b < 4; ++b) {
        const std::uint32_t byte = bit / 8 + b;
        index[4 * l + b] = static_cast<std::uint8_t>(byte < 16 ? byte : 0x80);  // 0x80 gives 0
      }
    }
    index_ = _mm256_load_si256(reinterpret_cast<const __m256i*>(index));
#endif
    shift_ = hn::Load(UintTag(), shift);
  }

  static constexpr std::size_t kReads = 2 * kFloats;  ///< bytes, of which kFloats width / 8 count

  HWY_INLINE UintVector codes(const std::byte* packed) const {
#if HWY_TARGET <= HWY_AVX3
    const __m512i bytes =
        _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed)));
    const UintVector found{_mm512_permutexvar_epi16(index_, bytes)};
#else
    const __m256i bytes =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(packed)));
    const UintVector found{_mm256_shuffle_epi8(bytes, index_)};
#endif
    return hn::And(hn::Shr(found, shift_), mask_);
  }

 private:
#if HWY_TARGET <= HWY_AVX3
  __m512i index_;
#else
  __m256i index_;
#endif
  UintVector shift_, mask_;
};

template <bool kAdd>
HWY_INLINE CodesDone unpack(const std::byte* packed, std::size_t n, int width, std::uint32_t bias,
                            std::uint32_t* values) {
  const UintTag d;
  const CodeFinder finder(width);
  const std::size_t step = kFloats / 8 * static_cast<std::size_t>(width);
  const std::size_t bytes = n / 8 * static_cast<std::size_t>(width);
  const auto biases = hn::Set(d, bias);
  auto largest = hn::Zero(d);
  std::size_t i = 0;
  for (std::size_t at = 0; at + CodeFinder::kReads <= bytes; at += step, i += kFloats) {
    const auto code = finder.codes(packed + at);
    largest = hn::Max(largest, code);
    auto value = hn::Sub(code, biases);
    if constexpr (kAdd) value = hn::Add(hn::LoadU(d, values + i), value);
    hn::StoreU(value, d, values + i);
    if constexpr (kAdd) prefetch_ahead(values + i);
  }
  return {i, hn::GetLane(hn::MaxOfLanes(d, largest))};
}

/// Four codes in the low 4 width bits of each even 64-bit lane.
HWY_INLINE hn::Vec<hn::Repartition<std::uint64_t, UintTag>> fold_codes(UintVector code, int width) {
  const hn::Repartition<std::uint64_t, UintTag> d;
  const auto x = hn::BitCast(d, code);
  const auto pairs = hn::And(hn::Or(x, hn::ShiftRightSame(x, 32 - width)),
                             hn::Set(d, (std::uint64_t{1} << (2 * width)) - 1));
  return hn::Or(pairs, hn::ShiftLeftSame(hn::ShiftRightBytes<8>(d, pairs), 2 * width));
}

/// Eight codes from two fours; writes 16 bytes, of which `width` count.
HWY_INLINE void store_eight(std::uint64_t low, std::uint64_t high, int width, std::byte* packed) {
  const std::uint64_t words[2] = {low | (width < 16 ? high << (4 * width) : 0),
                                  high >> (width < 16 ? 64 - 4 * width : 0)};
  std::memcpy(packed, words, 16);
}

HWY_INLINE CodesDone pack(const std::uint32_t* values, std::size_t n, int width, std::uint32_t bias,
                          std::byte* packed) {
  const UintTag d;
  const std::size_t bytes_of_eight = static_cast<std::size_t>(width);
  const std::size_t bytes = n / 8 * bytes_of_eight;
  const auto biases = hn::Set(d, bias), mask = hn::Set(d, low_bits(width));
  auto largest = hn::Zero(d);
  std::size_t i = 0, at = 0;
  for (; at + kFloats / 8 * bytes_of_eight + 16 <= bytes; i += kFloats) {
    const auto code = hn::Add(hn::LoadU(d, values + i), biases);
    largest = hn::Max(largest, code);
    alignas(64) std::uint64_t fours[kFloats / 2];
    const auto folded = fold_codes(hn::And(code, mask), width);
    hn::Store(folded, hn::Repartition<std::uint64_t, UintTag>(), fours);
    for (std::size_t g = 0; g < kFloats / 2; g += 4, at += bytes_of_eight)
      store_eight(fours[g], fours[g + 2], width, packed + at);
    prefetch_ahead(values + i);
  }
  return {i, hn::GetLane(hn::MaxOfLanes(d, largest))};
}
#else
constexpr bool kVectors = false;
#endif

HWY_ATTR CodesDone PackIntegers(const std::uint32_t* values, std::size_t n, int width,
                                std::uint32_t bias, std::byte* packed) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  if (width <= 16) return pack(values, n, width, bias, packed);
#else
  (void)values, (void)n, (void)width, (void)bias, (void)packed;
#endif
  return {};
}

HWY_ATTR CodesDone UnpackIntegers(const std::byte* packed, std::size_t n, int width,
                                  std::uint32_t bias, bool add, std::uint32_t* values) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  if (width <= 16)
    return add ? unpack<true>(packed, n, width, bias, values)
               : unpack<false>(packed, n, width, bias, values);
#else
  (void)packed, (void)n, (void)width, (void)bias, (void)add, (void)values;
#endif
  return {};
}

HWY_ATTR void ScaleIntegers(const std::uint32_t* integers, std::size_t n, float unit,
                            float* values) {
  const FloatTag d;
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    const auto integer = hn::BitCast(IntTag(), hn::LoadU(UintTag(), integers + i));
    hn::StoreU(hn::Mul(hn::ConvertTo(d, integer), hn::Set(d, unit)), d, values + i);
    prefetch_ahead(integers + i);
  }
  for (; i < n; ++i) values[i] = static_cast<float>(static_cast<std::int32_t>(integers[i])) * unit;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(PackIntegers);
HWY_EXPORT(UnpackIntegers);
HWY_EXPORT(ScaleIntegers);

CodesDone pack_integers(const std::uint32_t* values, std::size_t n, int width, std::uint32_t bias,
                        std::byte* packed) {
  return HWY_DYNAMIC_DISPATCH(PackIntegers)(values, n, width, bias, packed);
}
CodesDone unpack_integers(const std::byte* packed, std::size_t n, int width, std::uint32_t bias,
                          bool add, std::uint32_t* values) {
  return HWY_DYNAMIC_DISPATCH(UnpackIntegers)(packed, n, width, bias, add, values);
}
void scale_integers(const std::uint32_t* integers, std::size_t n, float unit, float* values) {
  HWY_DYNAMIC_DISPATCH(ScaleIntegers)(integers, n, unit, values);
}

}  // namespace gradwire::compressors::kernels
#endif
