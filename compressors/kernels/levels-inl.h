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
#include "compressors/kernels/philox-inl.h"

/// Codes as bytes on one side, vectors of 32-bit lanes on the other.
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

/// A unit's codes, in byte kByte of each lane, stored as kWordUnit bytes.
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

HWY_INLINE LevelWords load_codes(const std::uint8_t* codes) {
  return hn::PromoteTo(LevelWordTag(), hn::LoadU(CodeTag(), codes));
}

/// decode.vector(i) has the decoded values i and the following, decode.scalar(i) is value i.
template <Sink kSink, class Decode>
HWY_INLINE void emit(const Decode& decode, std::size_t n, float factor, float* values) {
  const LevelTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factors = hn::Set(d, factor);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = decode.vector(i);
    if constexpr (kSink == Sink::kStream)
      hn::Stream(value, d, values + i);
    else if constexpr (kSink == Sink::kStore)
      hn::StoreU(value, d, values + i);
    else
      hn::StoreU(hn::Add(hn::LoadU(d, values + i), hn::Mul(factors, value)), d, values + i);
  }
  for (; i < n; ++i) {
    const float value = decode.scalar(i);
    values[i] = kSink == Sink::kAdd ? values[i] + factor * value : value;
  }
}

template <class Decode>
HWY_INLINE void emit(const Decode& decode, std::size_t n, Sink sink, float factor, float* values) {
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(values) % (4 * hn::MaxLanes(LevelTag())) == 0;
  if (sink == Sink::kAdd)
    emit<Sink::kAdd>(decode, n, factor, values);
  else if (sink == Sink::kStream && aligned)
    emit<Sink::kStream>(decode, n, factor, values);
  else
    emit<Sink::kStore>(decode, n, factor, values);
}

/// The same, element by element: for grids that go through double.
template <class Value>
HWY_INLINE void emit_scalars(std::size_t n, Sink sink, float factor, float* values, Value&& value) {
  for (std::size_t i = 0; i < n; ++i)
    values[i] = sink == Sink::kAdd ? values[i] + factor * value(i) : value(i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_LEVELS_INL_H_
