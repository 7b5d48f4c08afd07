#include "compressors/kernels/select.h"

#include <cstring>

#include "compressors/arithmetic/bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/select.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using IntTag = hn::RebindToSigned<FloatTag>;  // magnitude bits are never negative

// Compressing by table is dear, and few vectors hold anything; with masks it is cheaper to always
// do it than to guess wrong.
constexpr bool kCheapCompress = HWY_TARGET <= HWY_AVX3;

// Few values are found, and the block is still near: cheaper than compressing values too.
template <bool kAdd>
HWY_INLINE void take(const float* values, float* sums, std::uint32_t base,
                     const std::uint32_t* indices, std::size_t count, float* found) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t e = indices[i] - base;
    found[i] = kAdd ? sums[e] : values[e];
    if constexpr (kAdd) sums[e] = 0.0f;
  }
}

template <bool kAdd>
HWY_INLINE Scan scan(const float* values, float* sums, std::size_t n, std::uint32_t base,
                     std::uint32_t lowest, std::uint32_t* indices, float* found) {
  const FloatTag d;
  const IntTag di;
  const std::size_t lanes = hn::Lanes(d);
  const auto below = hn::Set(di, static_cast<std::int32_t>(lowest) - 1);
  const auto step = hn::Set(di, static_cast<std::int32_t>(lanes));
  auto index = hn::Iota(di, static_cast<std::int32_t>(base));
  auto* indices_out = reinterpret_cast<std::int32_t*>(indices);
  auto largest = hn::Zero(di);
  std::size_t count = 0, i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto value = hn::LoadU(d, values + i);
    if constexpr (kAdd) value = hn::Add(hn::LoadU(d, sums + i), value);
    const auto key = hn::BitCast(di, hn::Abs(value));
    largest = hn::Max(largest, key);
    const auto large = hn::Gt(key, below);
    if constexpr (kAdd) hn::StoreU(value, d, sums + i);
    if (kCheapCompress || !hn::AllFalse(di, large)) {
      hn::StoreU(hn::Compress(index, large), di, indices_out + count);
      count += hn::CountTrue(di, large);
    }
    index = hn::Add(index, step);
  }
  auto max_magnitude = static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(di, largest)));
  for (; i < n; ++i) {
    if constexpr (kAdd) sums[i] += values[i];
    const std::uint32_t key = magnitude_bits(kAdd ? sums[i] : values[i]);
    max_magnitude = key > max_magnitude ? key : max_magnitude;
    if (key >= lowest) indices[count++] = base + static_cast<std::uint32_t>(i);
  }
  take<kAdd>(values, sums, base, indices, count, found);
  return Scan{count, max_magnitude};
}

HWY_ATTR Scan ScanLarge(const float* values, std::size_t n, std::uint32_t base,
                        std::uint32_t lowest, std::uint32_t* indices, float* found) {
  return scan<false>(values, nullptr, n, base, lowest, indices, found);
}

HWY_ATTR Scan AddScanLarge(const float* values, float* sums, std::size_t n, std::uint32_t base,
                           std::uint32_t lowest, std::uint32_t* indices, float* found) {
  return scan<true>(values, sums, n, base, lowest, indices, found);
}

HWY_INLINE void count_one(float value, std::uint32_t low, std::uint32_t high, int shift,
                          std::uint32_t* bins) {
  const std::uint32_t key = magnitude_bits(value);
  if (key >= low && key <= high) ++bins[(key - low) >> shift];
}

HWY_ATTR void CountMagnitudes(const float* values, std::size_t n, std::uint32_t low,
                              std::uint32_t high, int shift, std::uint32_t* bins) {
  const FloatTag d;
  const IntTag di;
  const std::size_t lanes = hn::Lanes(d);
  const auto first = hn::Set(di, static_cast<std::int32_t>(low));
  const auto last = hn::Set(di, static_cast<std::int32_t>(high));
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto key = hn::BitCast(di, hn::Abs(hn::LoadU(d, values + i)));
    if (hn::AllTrue(di, hn::Or(hn::Lt(key, first), hn::Gt(key, last)))) continue;
    for (std::size_t j = 0; j < lanes; ++j) count_one(values[i + j], low, high, shift, bins);
  }
  for (; i < n; ++i) count_one(values[i], low, high, shift, bins);
}

struct Keeper {
  std::uint32_t threshold;
  std::size_t& ties;
  std::uint32_t* indices;
  float* values;
  float* sums;
  std::size_t count = 0;

  HWY_INLINE void offer(std::uint32_t index, float value) {
    const std::uint32_t key = magnitude_bits(value);
    const bool tie = key == threshold && ties > 0;
    if (key > threshold || tie) {
      if (tie) --ties;
      indices[count] = index;
      values[count++] = value;
    } else if (sums != nullptr) {
      sums[index] = value;
    }
  }
};

HWY_ATTR std::size_t KeepLarge(const std::uint32_t* indices, const float* values, std::size_t n,
                               std::uint32_t threshold, std::size_t& ties,
                               std::uint32_t* kept_indices, float* kept, float* sums) {
  const FloatTag d;
  const IntTag di;
  const std::size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(di, static_cast<std::int32_t>(threshold));
  Keeper keeper{threshold, ties, kept_indices, kept, sums};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::BitCast(di, hn::LoadU(d, values + i));
    const auto key = hn::And(bits, hn::Set(di, 0x7FFFFFFF));
    const auto index = hn::LoadU(di, reinterpret_cast<const std::int32_t*>(indices + i));
    if (!hn::AllFalse(di, hn::Eq(key, limit))) {
      for (std::size_t j = 0; j < lanes; ++j) keeper.offer(indices[i + j], values[i + j]);
      continue;
    }
    const auto large = hn::Gt(key, limit);
    hn::StoreU(hn::Compress(bits, large), di, reinterpret_cast<std::int32_t*>(kept) + keeper.count);
    hn::StoreU(hn::Compress(index, large), di,
               reinterpret_cast<std::int32_t*>(kept_indices) + keeper.count);
    const std::size_t count = hn::CountTrue(di, large);
    keeper.count += count;
    if (sums == nullptr || count == lanes) continue;
    std::int32_t left_index[16], left_bits[16];  // without a branch for each lane
    hn::StoreU(hn::Compress(index, hn::Not(large)), di, left_index);
    hn::StoreU(hn::Compress(bits, hn::Not(large)), di, left_bits);
    for (std::size_t j = 0; j < lanes - count; ++j)
      std::memcpy(sums + static_cast<std::uint32_t>(left_index[j]), left_bits + j, 4);
  }
  for (; i < n; ++i) keeper.offer(indices[i], values[i]);
  return keeper.count;
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

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(ScanLarge);
HWY_EXPORT(AddScanLarge);
HWY_EXPORT(CountMagnitudes);
HWY_EXPORT(KeepLarge);
HWY_EXPORT(InterleaveEntries);

Scan scan_large(const float* values, std::size_t n, std::uint32_t base, std::uint32_t lowest,
                std::uint32_t* indices, float* found) {
  return HWY_DYNAMIC_DISPATCH(ScanLarge)(values, n, base, lowest, indices, found);
}
Scan add_scan_large(const float* values, float* sums, std::size_t n, std::uint32_t base,
                    std::uint32_t lowest, std::uint32_t* indices, float* found) {
  return HWY_DYNAMIC_DISPATCH(AddScanLarge)(values, sums, n, base, lowest, indices, found);
}
void count_magnitudes(const float* values, std::size_t n, std::uint32_t low, std::uint32_t high,
                      int shift, std::uint32_t* bins) {
  HWY_DYNAMIC_DISPATCH(CountMagnitudes)(values, n, low, high, shift, bins);
}
std::size_t keep_large(const std::uint32_t* indices, const float* values, std::size_t n,
                       std::uint32_t threshold, std::size_t& ties, std::uint32_t* kept_indices,
                       float* kept, float* sums) {
  return HWY_DYNAMIC_DISPATCH(KeepLarge)(indices, values, n, threshold, ties, kept_indices, kept,
                                         sums);
}
void interleave_entries(const std::uint32_t* indices, const float* values, std::size_t n,
                        std::byte* entries) {
  HWY_DYNAMIC_DISPATCH(InterleaveEntries)(indices, values, n, entries);
}

}  // namespace gradwire::compressors::kernels
#endif
