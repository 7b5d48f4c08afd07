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

/// Writes codes of `n` elements, packed, in order.
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
    return out_.bytes + i / 8 * static_cast<std::size_t>(out_.bits);
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

#if HWY_TARGET != HWY_SCALAR
/// kWordUnit codes, from packed bytes.
HWY_INLINE WordUnit load_unit_codes(const GroupCoder& coder, const std::byte* in,
                                    [[maybe_unused]] std::size_t bits) {
  WordUnit unit;
#if HWY_TARGET <= HWY_AVX3_DL
  const __m512i codes = coder.load(in);
  unit.vector[0].raw = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(codes));
  unit.vector[1].raw = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(codes, 1));
  unit.vector[2].raw = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(codes, 2));
  unit.vector[3].raw = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(codes, 3));
#else
  alignas(64) std::uint8_t codes[kWordUnit];
  for (std::size_t i = 0; i < kWordUnit; i += kStep) coder.unpack(in + i / 8 * bits, codes + i);
  for (std::size_t v = 0; v < kWordVectors; ++v)
    unit.vector[v] = hn::PromoteTo(WordTag(), hn::LoadU(CodeTag(), codes + v * kLevelLanes));
#endif
  return unit;
}
#endif

HWY_INLINE LevelWords load_codes(const std::uint8_t* codes) {
  return hn::PromoteTo(LevelWordTag(), hn::LoadU(CodeTag(), codes));
}

/// values[0 ..] = value, or += factors value.
template <Output kOutput>
HWY_INLINE void put_scaled(LevelVector value, LevelVector factors, float* values) {
  put<kOutput>(kOutput == Output::kAdd ? hn::Mul(factors, value) : value, values);
}

/// Makes values begin .. end - 1 from codes[0] on: decode.value(codes, i) has the decoded values i
/// and the following, decode.scalar(code, i) is value i.
template <Output kOutput, class Decode>
HWY_INLINE void emit_bytes(const Decode& decode, const std::uint8_t* codes, std::size_t begin,
                           std::size_t end, float factor, float* values) {
  const LevelTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factors = hn::Set(d, factor);
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes, codes += lanes)
    put_scaled<kOutput>(decode.value(load_codes(codes), i), factors, values + i);
  for (; i < end; ++i, ++codes) {
    const float value = decode.scalar(*codes, i);
    values[i] = kOutput == Output::kAdd ? values[i] + factor * value : value;
  }
}

template <Output kOutput, class Decode>
HWY_INLINE void emit(const Decode& decode, const PackedCodes& packed, std::size_t n, float factor,
                     float* values) {
  if (packed.bits == 8)
    return emit_bytes<kOutput>(decode, reinterpret_cast<const std::uint8_t*>(packed.bytes), 0, n,
                               factor, values);
  const std::byte* in = packed.bytes;
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const GroupCoder coder(packed.bits, packed.order);
  const auto factors = hn::Set(LevelTag(), factor);
  const std::size_t step = kWordUnit / 8 * static_cast<std::size_t>(packed.bits);
  for (; i + kWordUnit + kSpare <= n; i += kWordUnit, in += step) {
    __builtin_prefetch(in + 2048);  // harmless beyond the end
    const WordUnit codes = load_unit_codes(coder, in, static_cast<std::size_t>(packed.bits));
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const std::size_t at = i + v * kLevelLanes;
      put_scaled<kOutput>(decode.value(codes.vector[v], at), factors, values + at);
    }
  }
#endif
  while (i < n) {
    std::uint8_t codes[kWordUnit];
    const std::size_t count = std::min(n - i, kWordUnit);
    unpack_rest(in, count, packed.bits, packed.order, codes);
    emit_bytes<kOutput>(decode, codes, i, i + count, factor, values);
    i += count;
    in += kWordUnit / 8 * static_cast<std::size_t>(packed.bits);
  }
}

template <class Decode>
HWY_INLINE void emit(const Decode& decode, const PackedCodes& packed, std::size_t n, Output output,
                     float factor, float* values) {
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(values) % (4 * hn::MaxLanes(LevelTag())) == 0;
  if (output == Output::kAdd)
    emit<Output::kAdd>(decode, packed, n, factor, values);
  else if (output == Output::kStream && aligned)
    emit<Output::kStream>(decode, packed, n, factor, values);
  else
    emit<Output::kStore>(decode, packed, n, factor, values);
}

#if HWY_TARGET != HWY_SCALAR
/// Codes of up to four bits look their values up: `decode` fills the table.
template <class Decode>
struct TableDecode {
  explicit TableDecode(const Decode& decode_codes) : decode(decode_codes) {
    const LevelWordTag dw;
    low = decode.value(hn::Iota(dw, 0), 0);
    if constexpr (kLevelLanes < 16) high = decode.value(hn::Iota(dw, 8), 0);
  }
  HWY_INLINE LevelVector value(const LevelWords& code, std::size_t) const {
    const LevelTag d;
#if HWY_TARGET <= HWY_AVX3
    return hn::TableLookupLanes(low, hn::IndicesFromVec(d, code));
#elif HWY_TARGET == HWY_AVX2
    const LevelVector first{_mm256_permutevar8x32_ps(low.raw, code.raw)};
    const LevelVector second{_mm256_permutevar8x32_ps(high.raw, code.raw)};
    const __m256 third_bit = _mm256_castsi256_ps(_mm256_slli_epi32(code.raw, 28));
    return LevelVector{_mm256_blendv_ps(first.raw, second.raw, third_bit)};
#else
    return decode.value(code, 0);
#endif
  }
  HWY_INLINE float scalar(std::uint32_t code, std::size_t i) const {
    return decode.scalar(code, i);
  }
  Decode decode;
  LevelVector low, high;
};
#endif

/// Where tables of 16 values pay: `steps` is about how many instructions decode.value() takes.
template <int kSteps, class Decode>
HWY_INLINE void emit_table(const Decode& decode, const PackedCodes& packed, std::size_t n,
                           Output output, float factor, float* values) {
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_AVX2
  if (packed.bits <= 4 && (kLevelLanes == 16 || kSteps > 4))
    return emit(TableDecode<Decode>(decode), packed, n, output, factor, values);
#endif
  emit(decode, packed, n, output, factor, values);
}

/// The same, element by element: for grids that go through double.
template <class Decode>
HWY_INLINE void emit_scalars(const Decode& decode, const PackedCodes& packed, std::size_t n,
                             Output output, float factor, float* values) {
  const std::size_t step = static_cast<std::size_t>(packed.bits);
  for (std::size_t i = 0; i < n; i += 8) {
    std::uint8_t codes[8];
    const std::size_t count = std::min<std::size_t>(n - i, 8);
    unpack_rest(packed.bytes + i / 8 * step, count, packed.bits, packed.order, codes);
    for (std::size_t j = 0; j < count; ++j) {
      const float value = decode.scalar(codes[j], i + j);
      values[i + j] = output == Output::kAdd ? values[i + j] + factor * value : value;
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_LEVELS_INL_H_
