#include <cstring>
#include <type_traits>

#include "compressors/arithmetic/half.h"
#include "compressors/kernels/kernels.h"
#include "compressors/ordered_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/simd.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using WordTag = hn::RebindToUnsigned<FloatTag>;
using IntTag = hn::RebindToSigned<FloatTag>;

// Magnitude bits as signed integers: they are never negative, and signed maxima are cheaper.
template <class V>
HWY_INLINE hn::Vec<IntTag> magnitudes(V values) {
  return hn::BitCast(IntTag(), hn::Abs(values));
}

HWY_INLINE std::uint32_t reduce_max(hn::Vec<IntTag> largest) {
  return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(IntTag(), largest)));
}

HWY_INLINE std::uint32_t larger(std::uint32_t a, std::uint32_t b) {
  return a < b ? b : a;
}

HWY_ATTR std::uint32_t MaxMagnitude(const float* values, std::size_t n) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(IntTag()), odd = even;
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    even = hn::Max(even, magnitudes(hn::LoadU(d, values + i)));
    odd = hn::Max(odd, magnitudes(hn::LoadU(d, values + i + lanes)));
  }
  std::uint32_t largest = reduce_max(hn::Max(even, odd));
  for (; i < n; ++i) largest = larger(largest, magnitude_bits(values[i]));
  return largest;
}

HWY_ATTR std::uint32_t AddMaxMagnitude(const float* values, float* sums, std::size_t n) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  auto vector_max = hn::Zero(IntTag());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto sum = hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, values + i));
    hn::StoreU(sum, d, sums + i);
    vector_max = hn::Max(vector_max, magnitudes(sum));
  }
  std::uint32_t largest = reduce_max(vector_max);
  for (; i < n; ++i) {
    sums[i] += values[i];
    largest = larger(largest, magnitude_bits(sums[i]));
  }
  return largest;
}

#if HWY_TARGET != HWY_SCALAR
// ---- Philox: one counter in each 64-bit lane. The low halves of products stay where they are and
// ---- their high halves are carried along as garbage that the next multiplication ignores.
using LaneTag = hn::CappedTag<std::uint64_t, 8>;
using HalfLaneTag = hn::Repartition<std::uint32_t, LaneTag>;
using LaneVector = hn::Vec<LaneTag>;

struct PhiloxLanes {
  LaneVector c0, c1, c2, c3;
};

HWY_INLINE void philox_round(PhiloxLanes& x, LaneVector multiplier0, LaneVector multiplier1,
                             LaneVector key0, LaneVector key1) {
  const HalfLaneTag half;
  const auto p0 = hn::MulEven(hn::BitCast(half, x.c0), hn::BitCast(half, multiplier0));
  const auto p1 = hn::MulEven(hn::BitCast(half, x.c2), hn::BitCast(half, multiplier1));
  x.c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), x.c1), key0);
  x.c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), x.c3), key1);
  x.c1 = p1;
  x.c3 = p0;
}

HWY_INLINE void philox_store(const PhiloxLanes& x, std::uint32_t* words) {
  const LaneTag d;
  const HalfLaneTag half;
  const auto join = [&](LaneVector low, LaneVector high) HWY_ATTR {
    return hn::BitCast(
        d, hn::OddEven(hn::BitCast(half, hn::ShiftLeft<32>(high)), hn::BitCast(half, low)));
  };
  hn::StoreInterleaved2(join(x.c0, x.c1), join(x.c2, x.c3), d,
                        reinterpret_cast<std::uint64_t*>(words));
}

// Returns how many blocks were done, a multiple of four vectors.
HWY_ATTR std::size_t philox_vectors(const RandomStream& stream, std::uint32_t first_block,
                                    std::size_t blocks, std::uint32_t* words) {
  const LaneTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto multiplier0 = hn::Set(d, 0xD2511F53u), multiplier1 = hn::Set(d, 0xCD9E8D57u);
  const auto tensor = hn::Set(d, stream.tensor), worker = hn::Set(d, stream.worker);
  const auto step = hn::Set(d, stream.step);
  std::size_t b = 0;
  for (; b + 4 * lanes <= blocks; b += 4 * lanes) {
    const auto counter = [&](std::size_t group) HWY_ATTR {
      return PhiloxLanes{hn::Iota(d, first_block + b + group * lanes), tensor, worker, step};
    };
    PhiloxLanes w = counter(0), x = counter(1), y = counter(2), z = counter(3);
    auto key0 = static_cast<std::uint32_t>(stream.seed);
    auto key1 = static_cast<std::uint32_t>(stream.seed >> 32);
    for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
      const auto k0 = hn::Set(d, key0), k1 = hn::Set(d, key1);
      philox_round(w, multiplier0, multiplier1, k0, k1);
      philox_round(x, multiplier0, multiplier1, k0, k1);
      philox_round(y, multiplier0, multiplier1, k0, k1);
      philox_round(z, multiplier0, multiplier1, k0, k1);
    }
    philox_store(w, words + 4 * b);
    philox_store(x, words + 4 * (b + lanes));
    philox_store(y, words + 4 * (b + 2 * lanes));
    philox_store(z, words + 4 * (b + 3 * lanes));
  }
  return b;
}
#endif

HWY_ATTR void PhiloxWords(const RandomStream& stream, std::uint32_t first_block, std::size_t blocks,
                          std::uint32_t* words) {
  std::size_t b = 0;
#if HWY_TARGET != HWY_SCALAR
  b = philox_vectors(stream, first_block, blocks, words);
#endif
  for (; b < blocks; ++b) {
    const PhiloxBlock block = philox_block(stream, first_block + static_cast<std::uint32_t>(b));
    std::memcpy(words + 4 * b, block.word, sizeof block.word);
  }
}

// ---- TernGrad
HWY_INLINE std::uint64_t spread_bits(std::uint32_t bits) {  // bit i goes to bit 2 i
  std::uint64_t x = bits;
  x = (x | x << 16) & 0x0000FFFF0000FFFFull;
  x = (x | x << 8) & 0x00FF00FF00FF00FFull;
  x = (x | x << 4) & 0x0F0F0F0F0F0F0F0Full;
  x = (x | x << 2) & 0x3333333333333333ull;
  return (x | x << 1) & 0x5555555555555555ull;
}

// Read at the width it was stored, or the load waits for the store to leave the core.
HWY_INLINE std::uint32_t mask_bits(hn::Mask<FloatTag> mask) {
  using Bits = std::conditional_t<(HWY_MAX_BYTES >= 64), std::uint16_t, std::uint8_t>;
  Bits bits = 0;
  hn::StoreMaskBits(FloatTag(), mask, reinterpret_cast<std::uint8_t*>(&bits));
  return bits;
}

HWY_INLINE std::uint32_t ternary_tail(const float* values, const std::uint32_t* words,
                                      std::size_t n, TernaryRule rule, std::byte* codes) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 4 == 0) codes[i / 4] = std::byte{0};
    const int code = ternary_term(values[i], ternary_draw(words[i]), rule) + 1;
    codes[i / 4] |= static_cast<std::byte>(code << (2 * (i % 4)));
    largest = larger(largest, magnitude_bits(values[i]));
  }
  return largest;
}

HWY_ATTR std::uint32_t TernaryCodes(const float* values, const std::uint32_t* words, std::size_t n,
                                    TernaryRule rule, std::byte* codes) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto unit = hn::Set(d, rule.unit), lift = hn::Set(d, rule.lift), zero = hn::Zero(d);
  auto vector_max = hn::Zero(IntTag());
  std::size_t i = 0;
  for (; i + 32 <= n; i += 32, codes += 8) {
    std::uint32_t kept = 0, positive = 0;
    for (std::size_t j = 0; j < 32; j += lanes) {
      const auto value = hn::LoadU(d, values + i + j);
      const auto magnitude = hn::Abs(value);
      vector_max = hn::Max(vector_max, hn::BitCast(IntTag(), magnitude));
      const auto word = hn::ShiftRight<8>(hn::LoadU(WordTag(), words + i + j));
      const auto draw = hn::ConvertTo(d, hn::BitCast(IntTag(), word));
      const auto keep = hn::Lt(hn::Mul(draw, unit), hn::Mul(magnitude, lift));
      kept |= mask_bits(keep) << j;
      positive |= mask_bits(hn::And(keep, hn::Gt(value, zero))) << j;
    }
    const std::uint64_t packed = spread_bits(~kept) | spread_bits(positive) << 1;
    std::memcpy(codes, &packed, 8);
  }
  return larger(reduce_max(vector_max), ternary_tail(values + i, words + i, n - i, rule, codes));
}

template <bool kAdd>
HWY_INLINE void ternary_unpack(const std::byte* codes, std::size_t n, float scale, float* values) {
  const FloatTag d;
  const WordTag dw;
  const std::size_t lanes = hn::Lanes(d);
  const auto shifts = hn::Add(hn::Iota(dw, 0), hn::Iota(dw, 0));
  const auto three = hn::Set(dw, 3), one = hn::Set(dw, 1);
  const auto factor = hn::Set(d, scale);
  std::size_t i = 0;
  for (; i + lanes <= n && lanes >= 4; i += lanes) {
    std::uint32_t packed = 0;
    std::memcpy(&packed, codes + i / 4, lanes / 4);
    const auto code = hn::And(hn::Shr(hn::Set(dw, packed), shifts), three);
    const auto term = hn::ConvertTo(d, hn::BitCast(IntTag(), hn::Sub(code, one)));
    auto value = hn::Mul(term, factor);
    if constexpr (kAdd) value = hn::Add(hn::LoadU(d, values + i), value);
    hn::StoreU(value, d, values + i);
  }
  for (; i < n; ++i) {
    const int code = static_cast<int>(codes[i / 4] >> (2 * (i % 4)) & std::byte{3});
    const float value = static_cast<float>(code - 1) * scale;
    values[i] = kAdd ? values[i] + value : value;
  }
}

HWY_ATTR void TernaryValues(const std::byte* codes, std::size_t n, float scale, float* values) {
  ternary_unpack<false>(codes, n, scale, values);
}
HWY_ATTR void TernaryValuesAdd(const std::byte* codes, std::size_t n, float scale, float* values) {
  ternary_unpack<true>(codes, n, scale, values);
}

// ---- binary16. Highway's emulation truncates where the instruction set has no conversion, so
// ---- those targets run the shared scalar arithmetic.
#if HWY_ARCH_X86 && HWY_TARGET >= HWY_SSE4
constexpr bool kHardwareHalf = false;
#else
constexpr bool kHardwareHalf = true;
#endif

HWY_ATTR std::uint32_t ToHalf(const float* values, std::size_t n, std::byte* halves) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const hn::Rebind<hwy::float16_t, FloatTag> dh;
  const hn::RebindToUnsigned<decltype(dh)> dbits;
  auto vector_max = hn::Zero(IntTag());
  std::size_t i = 0;
  for (; kHardwareHalf && i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    vector_max = hn::Max(vector_max, magnitudes(value));
    const auto half = hn::BitCast(dbits, hn::DemoteTo(dh, value));
    hn::StoreU(half, dbits, reinterpret_cast<std::uint16_t*>(halves + 2 * i));
  }
  std::uint32_t largest = reduce_max(vector_max);
  for (; i < n; ++i) {
    const std::uint16_t half = half_from_float(values[i]);
    std::memcpy(halves + 2 * i, &half, 2);
    largest = larger(largest, magnitude_bits(values[i]));
  }
  return largest;
}

template <bool kAdd>
HWY_INLINE void half_unpack(const std::byte* halves, std::size_t n, float factor, float* values) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const hn::Rebind<hwy::float16_t, FloatTag> dh;
  const hn::RebindToUnsigned<decltype(dh)> dbits;
  std::size_t i = 0;
  for (; kHardwareHalf && i + lanes <= n; i += lanes) {
    const auto bits = hn::LoadU(dbits, reinterpret_cast<const std::uint16_t*>(halves + 2 * i));
    auto value = hn::PromoteTo(d, hn::BitCast(dh, bits));
    if constexpr (kAdd)
      value = hn::Add(hn::LoadU(d, values + i), hn::Mul(hn::Set(d, factor), value));
    hn::StoreU(value, d, values + i);
  }
  for (; i < n; ++i) {
    std::uint16_t half;
    std::memcpy(&half, halves + 2 * i, 2);
    values[i] = kAdd ? values[i] + factor * float_from_half(half) : float_from_half(half);
  }
}

HWY_ATTR void FromHalf(const std::byte* halves, std::size_t n, float* values) {
  half_unpack<false>(halves, n, 1.0f, values);
}
HWY_ATTR void FromHalfAdd(const std::byte* halves, std::size_t n, float factor, float* values) {
  half_unpack<true>(halves, n, factor, values);
}

// ---- top-k: most vectors hold nothing to send
HWY_ATTR LargeKeys CollectKeys(const float* values, std::size_t n, std::uint32_t lowest,
                               std::uint32_t* keys) {
  const FloatTag d;
  const IntTag di;
  const std::size_t lanes = hn::Lanes(d);
  const auto below = hn::Set(di, static_cast<std::int32_t>(lowest) - 1);
  auto vector_max = hn::Zero(di);
  auto* out = reinterpret_cast<std::int32_t*>(keys);
  std::size_t count = 0, i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto key = magnitudes(hn::LoadU(d, values + i));
    vector_max = hn::Max(vector_max, key);
    count += hn::CompressStore(key, hn::Gt(key, below), di, out + count);
  }
  std::uint32_t largest = reduce_max(vector_max);
  for (; i < n; ++i) {
    const std::uint32_t key = magnitude_bits(values[i]);
    largest = larger(largest, key);
    if (key >= lowest) keys[count++] = key;
  }
  return LargeKeys{count, largest};
}

struct EntryWriter {
  std::uint32_t threshold;
  std::size_t ties;
  std::byte* entries;
  std::size_t count = 0;

  HWY_INLINE void offer(float value, std::size_t index) {
    const std::uint32_t key = magnitude_bits(value);
    if (key < threshold || (key == threshold && ties == 0)) return;
    if (key == threshold) --ties;
    const auto index32 = static_cast<std::uint32_t>(index);
    std::memcpy(entries + 8 * count, &index32, 4);
    std::memcpy(entries + 8 * count + 4, &value, 4);
    ++count;
  }
};

HWY_ATTR std::size_t SelectEntries(const float* values, std::size_t n, std::uint32_t threshold,
                                   std::size_t ties, std::byte* entries) {
  const FloatTag d;
  const IntTag di;
  const std::size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(di, static_cast<std::int32_t>(threshold));
  EntryWriter writer{threshold, ties, entries};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    if (hn::AllTrue(di, hn::Lt(magnitudes(hn::LoadU(d, values + i)), limit))) continue;
    for (std::size_t j = 0; j < lanes; ++j) writer.offer(values[i + j], i + j);
  }
  for (; i < n; ++i) writer.offer(values[i], i);
  return writer.count;
}

// ---- moments
HWY_ATTR BlockMoments Moments(const float* values, std::size_t n, double pivot) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> df;
  const std::size_t lanes = hn::Lanes(d);
  const auto center = hn::Set(d, pivot);
  double sums[kSumPartials], squares[kSumPartials];
  const std::size_t rows = n / kSumPartials * kSumPartials;
  for (std::size_t j = 0; j < kSumPartials; j += 2 * lanes) {
    auto sum0 = hn::Zero(d), sum1 = sum0, square0 = sum0, square1 = sum0;
    for (std::size_t i = j; i < rows; i += kSumPartials) {
      const auto d0 = hn::Sub(hn::PromoteTo(d, hn::LoadU(df, values + i)), center);
      const auto d1 = hn::Sub(hn::PromoteTo(d, hn::LoadU(df, values + i + lanes)), center);
      sum0 = hn::Add(sum0, d0);
      sum1 = hn::Add(sum1, d1);
      square0 = hn::Add(square0, hn::Mul(d0, d0));
      square1 = hn::Add(square1, hn::Mul(d1, d1));
    }
    hn::StoreU(sum0, d, sums + j);
    hn::StoreU(sum1, d, sums + j + lanes);
    hn::StoreU(square0, d, squares + j);
    hn::StoreU(square1, d, squares + j + lanes);
  }
  for (std::size_t i = rows; i < n; ++i) {
    const double difference = static_cast<double>(values[i]) - pivot;
    sums[i - rows] += difference;
    squares[i - rows] += difference * difference;
  }
  return BlockMoments{fold_partials(sums), fold_partials(squares), MaxMagnitude(values, n)};
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(MaxMagnitude);
HWY_EXPORT(AddMaxMagnitude);
HWY_EXPORT(PhiloxWords);
HWY_EXPORT(TernaryCodes);
HWY_EXPORT(TernaryValues);
HWY_EXPORT(TernaryValuesAdd);
HWY_EXPORT(ToHalf);
HWY_EXPORT(FromHalf);
HWY_EXPORT(FromHalfAdd);
HWY_EXPORT(CollectKeys);
HWY_EXPORT(SelectEntries);
HWY_EXPORT(Moments);

std::uint32_t max_magnitude_bits(const float* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(MaxMagnitude)(values, n);
}
std::uint32_t add_max_magnitude_bits(const float* values, float* sums, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(AddMaxMagnitude)(values, sums, n);
}
void philox_words(const RandomStream& stream, std::uint32_t first_block, std::size_t blocks,
                  std::uint32_t* words) {
  HWY_DYNAMIC_DISPATCH(PhiloxWords)(stream, first_block, blocks, words);
}
std::uint32_t ternary_codes(const float* values, const std::uint32_t* words, std::size_t n,
                            TernaryRule rule, std::byte* codes) {
  return HWY_DYNAMIC_DISPATCH(TernaryCodes)(values, words, n, rule, codes);
}
void ternary_values(const std::byte* codes, std::size_t n, float scale, float* values) {
  HWY_DYNAMIC_DISPATCH(TernaryValues)(codes, n, scale, values);
}
void ternary_values_add(const std::byte* codes, std::size_t n, float scale, float* values) {
  HWY_DYNAMIC_DISPATCH(TernaryValuesAdd)(codes, n, scale, values);
}
std::uint32_t to_half(const float* values, std::size_t n, std::byte* halves) {
  return HWY_DYNAMIC_DISPATCH(ToHalf)(values, n, halves);
}
void from_half(const std::byte* halves, std::size_t n, float* values) {
  HWY_DYNAMIC_DISPATCH(FromHalf)(halves, n, values);
}
void from_half_add(const std::byte* halves, std::size_t n, float factor, float* values) {
  HWY_DYNAMIC_DISPATCH(FromHalfAdd)(halves, n, factor, values);
}
LargeKeys collect_keys(const float* values, std::size_t n, std::uint32_t lowest,
                       std::uint32_t* keys) {
  return HWY_DYNAMIC_DISPATCH(CollectKeys)(values, n, lowest, keys);
}
std::size_t select_entries(const float* values, std::size_t n, std::uint32_t threshold,
                           std::size_t ties, std::byte* entries) {
  return HWY_DYNAMIC_DISPATCH(SelectEntries)(values, n, threshold, ties, entries);
}
BlockMoments block_moments(const float* values, std::size_t n, double pivot) {
  return HWY_DYNAMIC_DISPATCH(Moments)(values, n, pivot);
}

}  // namespace gradwire::compressors::kernels
#endif
