#include "compressors/kernels/select.h"

#include <cstring>

#include "compressors/arithmetic/bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/select.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

// Compressing by table is dear, and few vectors hold anything; with masks it is cheaper to always
// do it than to guess wrong.
constexpr bool kCheapCompress = HWY_TARGET <= HWY_AVX3;

/// Finds what exceeds `below`, a vector at a time: loops over what was found would keep memory
/// waiting.
struct Finder {
  IntVector below;
  std::int32_t *indices, *values;
  IntVector largest = hn::Zero(IntTag());
  std::size_t count = 0;

  HWY_INLINE void look(FloatVector value, IntVector key, IntVector index) {
    const IntTag d;
    largest = hn::Max(largest, key);
    const auto large = hn::Gt(key, below);
    if (!kCheapCompress && hn::AllFalse(d, large)) return;
    hn::StoreU(hn::Compress(index, large), d, indices + count);
    hn::StoreU(hn::Compress(hn::BitCast(d, value), large), d, values + count);
    count += hn::CountTrue(d, large);
  }
};

/// Magnitude bits are never negative: as signed numbers these are below all that reach `bits`.
HWY_INLINE IntVector just_below(std::uint32_t bits) {
  return hn::Set(IntTag(), static_cast<std::int32_t>(bits - 1u));
}

/// Where scanned values come from: as they stand, or a velocity that makes its step.
struct PlainValues {
  const float* values;
  HWY_INLINE FloatVector take(std::size_t i) const {
    prefetch_ahead(values + i);
    return hn::LoadU(FloatTag(), values + i);
  }
  float take_one(std::size_t i) const { return values[i]; }
};
struct SteppedValues {
  VelocityRule rule;
  HWY_INLINE FloatVector take(std::size_t i) const {
    prefetch_ahead(rule.gradient + i);
    prefetch_ahead(rule.velocity + i);
    const FloatTag d;
    const auto kept = hn::Mul(hn::Set(d, rule.momentum), hn::LoadU(d, rule.velocity + i));
    const auto more = hn::Mul(hn::Set(d, rule.factor), hn::LoadU(d, rule.gradient + i));
    const auto velocity = hn::Add(kept, more);
    hn::StoreU(velocity, d, rule.velocity + i);
    return velocity;
  }
  float take_one(std::size_t i) const {
    const float kept = rule.momentum * rule.velocity[i], more = rule.factor * rule.gradient[i];
    return rule.velocity[i] = kept + more;
  }
};

template <bool kAdd, class Values>
HWY_INLINE Scan scan(const Values& values, float* sums, std::size_t n, std::uint32_t base,
                     std::uint32_t lowest, std::uint32_t cleared_from, std::uint32_t* indices,
                     float* found) {
  const IntTag d;
  const auto step = hn::Set(d, static_cast<std::int32_t>(kFloats));
  auto index = hn::Iota(d, static_cast<std::int32_t>(base));
  const auto uncleared = just_below(cleared_from);
  Finder finder{just_below(lowest), reinterpret_cast<std::int32_t*>(indices),
                reinterpret_cast<std::int32_t*>(found)};
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    auto value = values.take(i);
    if constexpr (kAdd) {
      prefetch_ahead(sums + i);
      value = hn::Add(hn::LoadU(FloatTag(), sums + i), value);
    }
    load_once(value);
    const auto key = magnitudes(value);
    if constexpr (kAdd) {
      const auto cleared = hn::RebindMask(FloatTag(), hn::Gt(key, uncleared));
      hn::StoreU(hn::IfThenZeroElse(cleared, value), FloatTag(), sums + i);
    }
    finder.look(value, key, index);
    index = hn::Add(index, step);
  }
  std::uint32_t largest = reduce_max(finder.largest);
  std::size_t count = finder.count;
  for (; i < n; ++i) {
    const float own = values.take_one(i), value = kAdd ? sums[i] + own : own;
    const std::uint32_t key = magnitude_bits(value);
    largest = key > largest ? key : largest;
    if constexpr (kAdd) sums[i] = key >= cleared_from ? 0.0f : value;
    if (key < lowest) continue;
    indices[count] = base + static_cast<std::uint32_t>(i);
    found[count++] = value;
  }
  return Scan{count, largest};
}

HWY_ATTR Scan ScanLarge(const float* values, std::size_t n, std::uint32_t base,
                        std::uint32_t lowest, std::uint32_t* indices, float* found) {
  return scan<false>(PlainValues{values}, nullptr, n, base, lowest, 0, indices, found);
}

HWY_ATTR Scan AddScanLarge(const float* values, float* sums, std::size_t n, std::uint32_t base,
                           std::uint32_t lowest, std::uint32_t cleared_from, std::uint32_t* indices,
                           float* found) {
  return scan<true>(PlainValues{values}, sums, n, base, lowest, cleared_from, indices, found);
}

HWY_ATTR Scan StepScanLarge(const VelocityRule& rule, float* sums, std::size_t n,
                            std::uint32_t base, std::uint32_t lowest, std::uint32_t cleared_from,
                            std::uint32_t* indices, float* found) {
  return scan<true>(SteppedValues{rule}, sums, n, base, lowest, cleared_from, indices, found);
}

HWY_ATTR void CountMagnitudes(const float* values, std::size_t n, std::uint32_t low,
                              std::uint32_t high, int shift, std::uint32_t* bins) {
  const IntTag d;
  const auto first = hn::Set(d, static_cast<std::int32_t>(low));
  const auto last = hn::Set(d, static_cast<std::int32_t>(high));
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    const auto key = magnitudes(load_floats(values + i));
    const auto inside = hn::Not(hn::Or(hn::Lt(key, first), hn::Gt(key, last)));
    if (hn::AllFalse(d, inside)) continue;
    std::int32_t bin[kFloats];
    const auto bin_of_key = hn::ShiftRightSame(hn::Sub(key, first), shift);
    if (hn::AllTrue(d, inside)) {
      hn::StoreU(bin_of_key, d, bin);
      for (std::size_t j = 0; j < kFloats; ++j) ++bins[bin[j]];
      continue;
    }
    hn::StoreU(hn::Compress(bin_of_key, inside), d, bin);
    for (std::size_t j = 0, count = hn::CountTrue(d, inside); j < count; ++j) ++bins[bin[j]];
  }
  for (; i < n; ++i) {
    const std::uint32_t key = magnitude_bits(values[i]);
    if (key >= low && key <= high) ++bins[(key - low) >> shift];
  }
}

HWY_ATTR LargeCounts CountLarge(const float* values, std::size_t n, std::uint32_t magnitude) {
  const IntTag d;
  const auto limit = hn::Set(d, static_cast<std::int32_t>(magnitude));
  std::size_t above = 0, equal = 0;
  for (std::size_t i = 0; i < n; i += kFloats) {
    const auto key = magnitudes(load_floats(values + i));
    const auto there = hn::FirstN(d, n - i);
    above += hn::CountTrue(d, hn::And(there, hn::Gt(key, limit)));
    equal += hn::CountTrue(d, hn::And(there, hn::Eq(key, limit)));
  }
  return {static_cast<std::uint32_t>(above), static_cast<std::uint32_t>(equal)};
}

/// Entries that go through memory: those of a vector with ties, or near the end of the room.
struct Keeper {
  KeepRule rule;
  std::uint32_t* indices;
  float* values;
  Clearing clearing;
  std::size_t count = 0;

  HWY_INLINE void offer(std::uint32_t index, float value) {
    const std::uint32_t key = magnitude_bits(value);
    const bool tie = key == rule.magnitude && rule.ties > 0;
    const bool kept = key > rule.magnitude || tie;
    if (tie) --rule.ties;
    if (kept) {
      indices[count] = index;
      values[count++] = value;
    }
    if (clearing.sums != nullptr) clearing.sums[index] = kept ? 0.0f : value;
  }
};

/// Stores what the scan has cleared wrongly, and clears what it has not: few entries.
HWY_INLINE void mend(IntVector index, IntVector bits, hn::Mask<IntTag> kept, hn::Mask<IntTag> wrong,
                     float* sums) {
  const IntTag d;
  if (hn::AllFalse(d, wrong)) return;
  std::int32_t at[kFloats], value[kFloats];
  hn::StoreU(hn::Compress(index, wrong), d, at);
  hn::StoreU(hn::Compress(hn::IfThenZeroElse(kept, bits), wrong), d, value);
  for (std::size_t j = 0, count = hn::CountTrue(d, wrong); j < count; ++j)
    std::memcpy(sums + static_cast<std::uint32_t>(at[j]), value + j, 4);
}

HWY_ATTR std::size_t KeepLarge(const std::uint32_t* indices, const float* values, std::size_t n,
                               KeepRule rule, std::uint32_t* kept_indices, float* kept,
                               std::size_t room, Clearing clearing) {
  const IntTag d;
  const auto limit = hn::Set(d, static_cast<std::int32_t>(rule.magnitude));
  const auto uncleared = just_below(clearing.cleared_from);
  Keeper keeper{rule, kept_indices, kept, clearing};
  for (std::size_t i = 0; i < n; i += kFloats) {
    const auto there = hn::FirstN(d, n - i);
    auto bits = hn::BitCast(d, load_floats(values + i));
    const auto key = hn::And(bits, hn::Set(d, 0x7FFFFFFF));
    const bool tied = keeper.rule.ties > 0 && !hn::AllFalse(d, hn::And(there, hn::Eq(key, limit)));
    if (tied || keeper.count + kFloats > room) {
      for (std::size_t j = i; j < std::min(n, i + kFloats); ++j)
        keeper.offer(indices[j], values[j]);
      continue;
    }
    const auto index = hn::LoadU(d, reinterpret_cast<const std::int32_t*>(indices + i));
    const auto large = hn::And(there, hn::Gt(key, limit));
    hn::StoreU(hn::Compress(bits, large), d, reinterpret_cast<std::int32_t*>(kept) + keeper.count);
    hn::StoreU(hn::Compress(index, large), d,
               reinterpret_cast<std::int32_t*>(kept_indices) + keeper.count);
    keeper.count += hn::CountTrue(d, large);
    if (clearing.sums == nullptr) continue;
    const auto cleared = hn::And(there, hn::Gt(key, uncleared));
    mend(index, bits, large, hn::Xor(large, cleared), clearing.sums);
  }
  return keeper.count;
}

HWY_ATTR std::size_t NonzeroBits(const float* values, std::size_t n, std::byte* bits) {
  constexpr std::size_t kWord = 64;
  const FloatTag d;
  std::size_t count = 0, i = 0;
  for (; i + kWord <= n; i += kWord) {
    std::uint64_t word = 0;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWord; v += kFloats) {
      prefetch_ahead(values + i + v);
      const auto zero = hn::Eq(hn::LoadU(d, values + i + v), hn::Zero(d));
      word |= std::uint64_t{mask_bits(zero)} << v;
    }
    word = ~word;
    count += static_cast<std::size_t>(__builtin_popcountll(word));
    std::memcpy(bits + i / 8, &word, 8);
  }
  for (; i < n; ++i) {
    if (i % 8 == 0) bits[i / 8] = std::byte{0};
    if (values[i] == 0) continue;
    bits[i / 8] |= std::byte{1} << (i % 8);
    ++count;
  }
  return count;
}

HWY_ATTR void InterleaveEntries(const std::uint32_t* indices, const float* values, std::size_t n,
                                std::byte* entries) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> dw;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if constexpr (HWY_TARGET != HWY_SCALAR) {
    for (; i + lanes <= n; i += lanes)
      hn::StoreInterleaved2(hn::LoadU(dw, indices + i), hn::BitCast(dw, hn::LoadU(d, values + i)),
                            dw, reinterpret_cast<std::uint32_t*>(entries + 8 * i));
  }
  for (; i < n; ++i) {
    std::memcpy(entries + 8 * i, indices + i, 4);
    std::memcpy(entries + 8 * i + 4, values + i, 4);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(ScanLarge);
HWY_EXPORT(AddScanLarge);
HWY_EXPORT(StepScanLarge);
HWY_EXPORT(CountMagnitudes);
HWY_EXPORT(CountLarge);
HWY_EXPORT(KeepLarge);
HWY_EXPORT(NonzeroBits);
HWY_EXPORT(InterleaveEntries);

Scan scan_large(const float* values, std::size_t n, std::uint32_t base, std::uint32_t lowest,
                std::uint32_t* indices, float* found) {
  return HWY_DYNAMIC_DISPATCH(ScanLarge)(values, n, base, lowest, indices, found);
}
Scan add_scan_large(const float* values, float* sums, std::size_t n, std::uint32_t base,
                    std::uint32_t lowest, std::uint32_t cleared_from, std::uint32_t* indices,
                    float* found) {
  return HWY_DYNAMIC_DISPATCH(AddScanLarge)(values, sums, n, base, lowest, cleared_from, indices,
                                            found);
}
Scan step_scan_large(const VelocityRule& rule, float* sums, std::size_t n, std::uint32_t base,
                     std::uint32_t lowest, std::uint32_t cleared_from, std::uint32_t* indices,
                     float* found) {
  return HWY_DYNAMIC_DISPATCH(StepScanLarge)(rule, sums, n, base, lowest, cleared_from, indices,
                                             found);
}
void count_magnitudes(const float* values, std::size_t n, std::uint32_t low, std::uint32_t high,
                      int shift, std::uint32_t* bins) {
  HWY_DYNAMIC_DISPATCH(CountMagnitudes)(values, n, low, high, shift, bins);
}
LargeCounts count_large(const float* values, std::size_t n, std::uint32_t magnitude) {
  return HWY_DYNAMIC_DISPATCH(CountLarge)(values, n, magnitude);
}
std::size_t keep_large(const std::uint32_t* indices, const float* values, std::size_t n,
                       KeepRule rule, std::uint32_t* kept_indices, float* kept, std::size_t room,
                       Clearing clearing) {
  return HWY_DYNAMIC_DISPATCH(KeepLarge)(indices, values, n, rule, kept_indices, kept, room,
                                         clearing);
}
std::size_t nonzero_bits(const float* values, std::size_t n, std::byte* bits) {
  return HWY_DYNAMIC_DISPATCH(NonzeroBits)(values, n, bits);
}
void interleave_entries(const std::uint32_t* indices, const float* values, std::size_t n,
                        std::byte* entries) {
  HWY_DYNAMIC_DISPATCH(InterleaveEntries)(indices, values, n, entries);
}

}  // namespace gradwire::compressors::kernels
#endif
