#include "compressors/codecs/natural/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/natural/encode_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/levels-inl.h"
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

// ---- packing 9 bits: code l of 8 starts at bit l of byte l, so it is 16 bits, shifted by l.

/// Eight codes in 64-bit words of four -> 9 bytes.
HWY_INLINE void pack_nine(std::uint64_t low, std::uint64_t high, std::byte* packed) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86_64
  constexpr std::uint64_t kNines = 0x01FF01FF01FF01FFull;
  low = _pext_u64(low, kNines);
  high = _pext_u64(high, kNines);
#else
  const auto squeeze = [](std::uint64_t x) {
    x = (x & 0x000001FF000001FFull) | (x & 0x01FF000001FF0000ull) >> 7;
    return (x & 0x3FFFFull) | (x & 0x0003FFFF00000000ull) >> 14;
  };
  low = squeeze(low);
  high = squeeze(high);
#endif
  const std::uint64_t first = low | high << 36;
  std::memcpy(packed, &first, 8);
  packed[8] = static_cast<std::byte>(high >> 28);
}

#if HWY_TARGET != HWY_SCALAR
/// Packs a unit's codes, which are the top 9 bits of each lane: 72 bytes.
struct NinePacker {
#if HWY_TARGET <= HWY_AVX3_DL
  __m512i high_words, shifts, low_bytes, high_bytes;
  __mmask64 low_mask = 0, high_mask = 0;

  NinePacker() {
    alignas(64) std::uint16_t words[32], shift[32];
    alignas(64) std::uint8_t low[64] = {}, high[64] = {};
    for (unsigned l = 0; l < 32; ++l) {
      words[l] = static_cast<std::uint16_t>(2 * l + 1);
      shift[l] = static_cast<std::uint16_t>(7 - l % 8);
      const unsigned byte = l / 8 * 9 + l % 8;
      low[byte] = static_cast<std::uint8_t>(2 * l);
      high[byte + 1] = static_cast<std::uint8_t>(2 * l + 1);
      low_mask |= __mmask64{1} << byte;
      high_mask |= __mmask64{1} << (byte + 1);
    }
    high_words = _mm512_load_si512(words);
    shifts = _mm512_load_si512(shift);
    low_bytes = _mm512_load_si512(low);
    high_bytes = _mm512_load_si512(high);
  }
  HWY_INLINE void store(const WordUnit& unit, std::byte* packed) const {
#pragma GCC unroll 2
    for (std::size_t half = 0; half < 2; ++half) {
      const __m512i words = _mm512_permutex2var_epi16(unit.vector[2 * half].raw, high_words,
                                                      unit.vector[2 * half + 1].raw);
      const __m512i codes =
          _mm512_srlv_epi16(_mm512_and_si512(words, _mm512_set1_epi16(-128)), shifts);
      const __m512i low = _mm512_maskz_permutexvar_epi8(low_mask, low_bytes, codes);
      const __m512i high = _mm512_maskz_permutexvar_epi8(high_mask, high_bytes, codes);
      _mm512_mask_storeu_epi8(packed + 36 * half, (__mmask64{1} << 36) - 1,
                              _mm512_or_si512(low, high));
    }
  }
#else
  HWY_INLINE void store(const WordUnit& unit, std::byte* packed) const {
    const hn::Rebind<std::uint16_t, FloatTag> d16;
    alignas(64) std::uint16_t codes[kWordUnit];
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const auto code = hn::BitCast(IntTag(), hn::ShiftRight<23>(unit.vector[v]));
      hn::StoreU(hn::DemoteTo(d16, code), d16, codes + v * kFloats);
    }
    for (std::size_t g = 0; g < kWordUnit / 8; ++g) {
      std::uint64_t words[2];
      std::memcpy(words, codes + 8 * g, 16);
      pack_nine(words[0], words[1], packed + 9 * g);
    }
  }
#endif
};

/// The magnitude with its fraction rounded into the exponent, not above `most`.
HWY_INLINE IntVector rounded_magnitude(IntVector magnitude, WordVector word, std::uint32_t most) {
  const auto carry = hn::BitCast(IntTag(), hn::ShiftRight<9>(hn::Not(word)));
  const auto limit = hn::Set(IntTag(), static_cast<std::int32_t>(most));
  return hn::Min(hn::Add(magnitude, carry), limit);
}
#endif

struct NineEncoder {
  const float* values;
  std::byte* codes;
  IntVector largest = hn::Zero(IntTag());
  std::uint32_t tail_largest = 0;

#if HWY_TARGET != HWY_SCALAR
  NinePacker packer = {};
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    WordUnit out;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const auto value = load_floats(values + i + v * kFloats);
      const auto magnitude = magnitudes(value);
      largest = hn::Max(largest, magnitude);
      const auto rounded = rounded_magnitude(magnitude, words.vector[v], kLargestFiniteBits);
      const auto code =
          hn::Or(hn::BitCast(UintTag(), rounded), sign_of(hn::BitCast(UintTag(), value)));
      const auto normal = hn::Gt(magnitude, hn::Set(IntTag(), kSmallestNormalBits - 1));
      out.vector[v] = hn::IfThenElseZero(hn::RebindMask(UintTag(), normal), code);
      prefetch_ahead(values + i + v * kFloats);
    }
    packer.store(out, codes + i / 8 * 9);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) {
    alignas(16) std::uint16_t code[8];
    for (std::size_t at = 0; at < count; at += 8) {
      std::memset(code, 0, sizeof code);
      const std::size_t here = std::min<std::size_t>(8, count - at);
      for (std::size_t j = 0; j < here; ++j) {
        const float value = values[i + at + j];
        code[j] = static_cast<std::uint16_t>(natural_code9(value, words[at + j]));
        tail_largest = std::max(tail_largest, magnitude_bits(value));
      }
      std::uint64_t fours[2];
      std::memcpy(fours, code, 16);
      std::byte packed[9];
      pack_nine(fours[0], fours[1], packed);
      std::memcpy(codes + (i + at) / 8 * 9, packed, (9 * here + 7) / 8);
    }
  }
};

struct EightEncoder {
  const float* values;
  std::uint8_t* codes;
  std::uint32_t lowest;
  IntVector largest = hn::Zero(IntTag());
  std::uint32_t tail_largest = 0;

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    const auto base = hn::Set(IntTag(), static_cast<std::int32_t>((lowest - 1) << 23));
    const auto smallest =
        hn::Set(IntTag(), static_cast<std::int32_t>(std::max(lowest << 23, 1u << 23)) - 1);
    WordUnit out;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const auto value = load_floats(values + i + v * kFloats);
      const auto magnitude = magnitudes(value);
      largest = hn::Max(largest, magnitude);
      const auto rounded = rounded_magnitude(magnitude, words.vector[v], most());
      const auto code = hn::Or(hn::BitCast(UintTag(), hn::ShiftLeft<1>(hn::Sub(rounded, base))),
                               sign_of(hn::BitCast(UintTag(), value)));
      auto some = hn::Gt(rounded, smallest);
      // Subnormals stay 0 even where the lowest field is 1.
      some = hn::And(some, hn::Gt(magnitude, hn::Set(IntTag(), kSmallestNormalBits - 1)));
      out.vector[v] = hn::IfThenElseZero(hn::RebindMask(UintTag(), some), code);
      prefetch_ahead(values + i + v * kFloats);
    }
    store_unit_codes<3>(out, codes + i);
  }
  HWY_INLINE std::uint32_t most() const {
    return std::min(((lowest + 127) << 23) - 1, kLargestFiniteBits);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) {
    for (std::size_t j = 0; j < count; ++j) {
      const float value = values[i + j];
      codes[i + j] = static_cast<std::uint8_t>(natural_code8(value, words[j], lowest));
      tail_largest = std::max(tail_largest, magnitude_bits(value));
    }
  }
};

HWY_ATTR std::uint32_t NaturalCodes9(const float* values, std::size_t n, const Draws& draws,
                                     std::size_t begin, std::byte* codes) {
  NineEncoder encoder{values, codes};
  for_words(draws, begin, n, encoder);
  return std::max(reduce_max(encoder.largest), encoder.tail_largest);
}

HWY_ATTR std::uint32_t NaturalCodes8(const float* values, std::size_t n, const Draws& draws,
                                     std::size_t begin, std::uint32_t lowest, std::byte* codes) {
  EightEncoder encoder{values, reinterpret_cast<std::uint8_t*>(codes), lowest};
  for_words(draws, begin, n, encoder);
  return std::max(reduce_max(encoder.largest), encoder.tail_largest);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(NaturalCodes9);
HWY_EXPORT(NaturalCodes8);

std::uint32_t natural_codes9(const float* values, std::size_t n, const Draws& draws,
                             std::size_t begin, std::byte* codes) {
  return HWY_DYNAMIC_DISPATCH(NaturalCodes9)(values, n, draws, begin, codes);
}
std::uint32_t natural_codes8(const float* values, std::size_t n, const Draws& draws,
                             std::size_t begin, std::uint32_t lowest, std::byte* codes) {
  return HWY_DYNAMIC_DISPATCH(NaturalCodes8)(values, n, draws, begin, lowest, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
