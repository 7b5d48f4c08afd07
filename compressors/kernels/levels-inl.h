// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_LEVELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_LEVELS_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_LEVELS_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_LEVELS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "compressors/kernels/levels.h"
#include "compressors/kernels/levels_pack-inl.h"
#include "compressors/kernels/philox-inl.h"
#include "compressors/kernels/vectors-inl.h"

/// What encoders share: codes from vectors of 32-bit lanes to packed bytes.
HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names
namespace hn = hwy::HWY_NAMESPACE;

using LevelTag = hn::CappedTag<float, 16>;
using LevelIntTag = hn::RebindToSigned<LevelTag>;
using LevelWordTag = hn::RebindToUnsigned<LevelTag>;
using CodeTag = hn::Rebind<std::uint8_t, LevelTag>;
using LevelVector = hn::Vec<LevelTag>;
using LevelWords = hn::Vec<LevelWordTag>;

#if HWY_TARGET != HWY_SCALAR
inline constexpr std::size_t kLevelLanes = hn::MaxLanes(LevelTag());

#if HWY_TARGET == HWY_AVX2
/// Numbers of four vectors as signed bytes in order, those from 128 to 255 as bytes without a sign.
HWY_INLINE __m256i narrowed(__m256i v0, __m256i v1, __m256i v2, __m256i v3) {
  const __m256i shorts =
      _mm256_packus_epi16(_mm256_packs_epi32(v0, v1), _mm256_packs_epi32(v2, v3));
  return _mm256_permutevar8x32_epi32(shorts, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
/// Lanes with the top bit set as bytes of all ones, in order; the others are positive, or zero.
HWY_INLINE __m256i signs_as_bytes(const LevelVector* v) {
  const auto pair = [v](int i) HWY_ATTR {
    return _mm256_packs_epi32(_mm256_castps_si256(v[i].raw), _mm256_castps_si256(v[i + 1].raw));
  };
  const __m256i bytes = _mm256_packs_epi16(pair(0), pair(2));
  const __m256i ordered =
      _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  return _mm256_cmpgt_epi8(_mm256_setzero_si256(), ordered);
}
#endif

/// The bytes number kByte of four vectors' lanes, in order: 4 kLevelLanes codes.
template <int kByte>
HWY_INLINE hn::Vec<hn::Repartition<std::uint8_t, LevelTag>> join_bytes(const LevelWords& v0,
                                                                       const LevelWords& v1,
                                                                       const LevelWords& v2,
                                                                       const LevelWords& v3) {
  const hn::Repartition<std::uint8_t, LevelTag> bytes;
#if HWY_TARGET <= HWY_AVX3_DL
  alignas(64) static constexpr auto kPick = [] {
    struct {
      std::uint8_t index[64];
    } pick{};
    for (int i = 0; i < 64; ++i) pick.index[i] = static_cast<std::uint8_t>(4 * (i % 32) + kByte);
    return pick;
  }();
  const __m512i pick = _mm512_load_si512(kPick.index);
  const __m512i low = _mm512_permutex2var_epi8(v0.raw, pick, v1.raw);
  const __m512i high = _mm512_permutex2var_epi8(v2.raw, pick, v3.raw);
  return hn::Vec<decltype(bytes)>{_mm512_mask_blend_epi64(0xF0, low, high)};
#elif HWY_TARGET == HWY_AVX2
  const auto byte = [](const LevelWords& v) HWY_ATTR {
    return kByte == 3 ? _mm256_srli_epi32(v.raw, 24)
                      : _mm256_and_si256(v.raw, _mm256_set1_epi32(255));
  };
  return hn::Vec<decltype(bytes)>{narrowed(byte(v0), byte(v1), byte(v2), byte(v3))};
#else
  const LevelWordTag d;
  const auto byte = [&](const LevelWords& v) HWY_ATTR {
    return kByte == 3 ? hn::ShiftRight<24>(v) : hn::And(v, hn::Set(d, 255));
  };
  const auto low = hn::Or(byte(v0), hn::ShiftLeft<8>(byte(v1)));
  const auto high = hn::Or(hn::ShiftLeft<16>(byte(v2)), hn::ShiftLeft<24>(byte(v3)));
  // Lane k has codes k of v0, v1, v2, v3: transpose 4 x 4 bytes in each 16, then the fours.
  alignas(16) static constexpr std::uint8_t kTranspose[16] = {0, 4, 8,  12, 1, 5, 9,  13,
                                                              2, 6, 10, 14, 3, 7, 11, 15};
  const auto turned = hn::TableLookupBytes(hn::BitCast(bytes, hn::Or(low, high)),
                                           hn::LoadDup128(bytes, kTranspose));
  std::int32_t order[kLevelLanes];
  constexpr int kBlocks = static_cast<int>(kLevelLanes) / 4;
  for (int i = 0; i < static_cast<int>(kLevelLanes); ++i) order[i] = i % kBlocks * 4 + i / kBlocks;
  const auto fours = hn::TableLookupLanes(hn::BitCast(LevelIntTag(), turned),
                                          hn::SetTableIndices(LevelIntTag(), order));
  return hn::BitCast(bytes, fours);
#endif
}

/// Towards zero; |x| < 2^31 (Highway's conversion spends four instructions on larger ones).
HWY_INLINE hn::Vec<LevelIntTag> truncated(LevelVector x) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Vec<LevelIntTag>{_mm512_cvttps_epi32(x.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<LevelIntTag>{_mm256_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(LevelIntTag(), x);
#endif
}

/// drawn_level of each lane, at most 255, in the lane's top byte. `scaled` <= 255 * 2^24.
HWY_INLINE LevelWords level_in_top_byte(LevelVector scaled, const LevelWords& words) {
#if HWY_TARGET <= HWY_AVX3
  // floor(x) + [k < frac x] = floor(x + (2^24 - 1 - k) 2^-24) for x rounded up to a 2^-24th.
  const LevelWords fixed{
      _mm512_cvt_roundps_epu32(scaled.raw, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)};
  return hn::Add(fixed, hn::ShiftRight<8>(hn::Not(words)));
#else
  const LevelTag d;
  const auto level = truncated(hn::Mul(scaled, hn::Set(d, 0x1p-24f)));
  const auto rest = hn::Sub(scaled, hn::Mul(hn::ConvertTo(d, level), hn::Set(d, 0x1p24f)));
  const auto draw = hn::ConvertTo(d, hn::BitCast(LevelIntTag(), hn::ShiftRight<8>(words)));
  const auto up = hn::VecFromMask(LevelIntTag(), hn::RebindMask(LevelIntTag(), hn::Lt(draw, rest)));
  return hn::ShiftLeft<24>(hn::BitCast(LevelWordTag(), hn::Sub(level, up)));
#endif
}

/// The same of levels below 128, which need no more than a signed number.
HWY_INLINE LevelWords small_level_in_top_byte(LevelVector scaled, const LevelWords& words) {
#if HWY_TARGET == HWY_AVX2
  const __m256i fixed = _mm256_cvttps_epi32(_mm256_ceil_ps(scaled.raw));
  const __m256i rest =
      _mm256_xor_si256(_mm256_srli_epi32(words.raw, 8), _mm256_set1_epi32(0xFFFFFF));
  return LevelWords{_mm256_add_epi32(fixed, rest)};
#else
  return level_in_top_byte(scaled, words);
#endif
}

/// A unit's codes, in byte kByte of each lane, as kWordUnit bytes.
template <int kByte>
HWY_INLINE void store_unit_codes(const WordUnit& unit, std::uint8_t* codes) {
  const hn::Repartition<std::uint8_t, LevelTag> bytes;
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kWordVectors; v += 4)
    hn::StoreU(join_bytes<kByte>(unit.vector[v], unit.vector[v + 1], unit.vector[v + 2],
                                 unit.vector[v + 3]),
               bytes, codes + v * kLevelLanes);
}
#endif

/// Writes codes one a byte.
struct ByteWriter {
  std::uint8_t* codes;
#if HWY_TARGET != HWY_SCALAR
  template <int kByte>
  HWY_INLINE void unit(std::size_t i, const WordUnit& unit_codes) const {
    store_unit_codes<kByte>(unit_codes, codes + i);
  }
#endif
  template <class Code>
  HWY_INLINE void tail(std::size_t i, std::size_t count, Code&& code) const {
    for (const std::size_t end = i + count; i < end; ++i)
      codes[i] = static_cast<std::uint8_t>(code(i));
  }
};

/// Writes codes of `n` elements, packed, in order. Units and tails begin at multiples of 8 unless
/// codes are bytes.
class CodeWriter {
 public:
#if HWY_TARGET == HWY_SCALAR
  CodeWriter(const CodeOutput& out, std::size_t n) : out_(out), n_(n) {}
#else
  CodeWriter(const CodeOutput& out, std::size_t n)
      : out_(out), n_(n), coder_(out.bits, out.order) {}
#endif

#if HWY_TARGET != HWY_SCALAR
  /// The unit that begins at element i; the codes are in byte kByte of each lane.
  template <int kByte>
  HWY_INLINE void unit(std::size_t i, const WordUnit& codes) const {
#if HWY_TARGET <= HWY_AVX3_DL
    unit(i,
         join_bytes<kByte>(codes.vector[0], codes.vector[1], codes.vector[2], codes.vector[3]).raw);
#else
    if (out_.bits == 8) return store_unit_codes<kByte>(codes, bytes() + i);
#if HWY_TARGET == HWY_AVX2
    if (coder_.nibbles) {
      for (std::size_t v = 0; v < kWordVectors; v += 4) {
        const auto* vector = codes.vector + v;
        coder_.pack_nibbles(join_bytes<kByte>(vector[0], vector[1], vector[2], vector[3]).raw,
                            at(i + v * kLevelLanes));
      }
      return;
    }
#endif
    alignas(64) std::uint8_t unpacked[kWordUnit];
    store_unit_codes<kByte>(codes, unpacked);
    unit(i, unpacked);
#endif
  }
#if HWY_TARGET <= HWY_AVX3_DL
  HWY_INLINE void unit(std::size_t i, __m512i codes) const {
    if (out_.bits == 8)
      _mm512_storeu_si512(bytes() + i, codes);
    else
      coder_.pack(codes, at(i));
  }
#else
  HWY_INLINE void unit(std::size_t i, const std::uint8_t* codes) const {
    if (i + kWordUnit + kSpare > n_) {  // vectors would write beyond the end
      pack_rest(codes, kWordUnit, out_.bits, out_.order, at(i));
    } else {
      for (std::size_t s = 0; s < kWordUnit; s += kStep) coder_.pack(codes + s, at(i + s));
    }
  }
#endif
#endif
  /// code(j) for elements i <= j < i + count.
  template <class Code>
  HWY_INLINE void tail(std::size_t i, std::size_t count, Code&& code) const {
    constexpr std::size_t kPart = 64;
    for (std::size_t end = i + count; i < end; i += kPart) {
      std::uint8_t codes[kPart];
      const std::size_t part = HWY_MIN(kPart, end - i);
      for (std::size_t j = 0; j < part; ++j) codes[j] = static_cast<std::uint8_t>(code(i + j));
      pack_rest(codes, part, out_.bits, out_.order, at(i));
    }
  }

 private:
  std::uint8_t* bytes() const {
    return reinterpret_cast<std::uint8_t*>(out_.bytes);
  }
  std::byte* at(std::size_t i) const {
    return out_.from(i).bytes;
  }

  CodeOutput out_;
  std::size_t n_;
#if HWY_TARGET != HWY_SCALAR
  GroupCoder coder_;
#endif
};

/// Scalar arithmetic for all: grids that go through double.
template <class Encoder>
struct TailOnly {
  Encoder encoder;
#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    alignas(64) std::uint32_t stored[kWordUnit];
    store_unit(words, stored);
    encoder.tail(i, kWordUnit, stored);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) {
    encoder.tail(i, count, words);
  }
};

template <class Encoder>
HWY_INLINE void encode_drawn(Encoder encoder, bool wide, const Draws& draws, std::size_t begin,
                             std::size_t n) {
  if (wide) {
    TailOnly<Encoder> slow{encoder};
    for_words(draws, begin, n, slow);
  } else {
    for_words(draws, begin, n, encoder);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_LEVELS_INL_H_
