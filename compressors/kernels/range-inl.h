// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_RANGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_RANGE_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_RANGE_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_RANGE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "compressors/kernels/levels-inl.h"

/// The smallest and the largest value of a bucket.
HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

// The first pass brings the values into the cache for the second: ask for them this far ahead.
// Prefetching beyond the buffer is harmless.
inline constexpr std::size_t kAhead = 8192 / sizeof(float);

HWY_INLINE void fetch_ahead(const float* values) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(values) +
                                                   kAhead * sizeof(float)));
}

struct RangeVectors {
  LevelVector smallest, largest, poison;

  HWY_INLINE void take(LevelVector value) {
    load_once(value);
    smallest = hn::Min(smallest, value);
    largest = hn::Max(largest, value);
    poison = hn::MulAdd(value, hn::Zero(LevelTag()), poison);  // 0, or NaN from then on
  }
};

HWY_INLINE ValueRange range_of(const float* values, std::size_t n) {
  const LevelTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto first = hn::Set(d, values[0]);
  constexpr std::size_t kChains = 4;  // hides the latency of the additions
  RangeVectors chain[kChains] = {{first, first, hn::Zero(d)},
                                 {first, first, hn::Zero(d)},
                                 {first, first, hn::Zero(d)},
                                 {first, first, hn::Zero(d)}};
  std::size_t i = 0;
  for (; i + kChains * lanes <= n; i += kChains * lanes) {
#pragma GCC unroll 4
    for (std::size_t line = 0; line < kChains * lanes; line += 16) fetch_ahead(values + i + line);
#pragma GCC unroll 4
    for (std::size_t c = 0; c < kChains; ++c) chain[c].take(hn::LoadU(d, values + i + c * lanes));
  }
#pragma GCC unroll 4
  for (std::size_t c = 1; c < kChains; ++c) {
    chain[0].smallest = hn::Min(chain[0].smallest, chain[c].smallest);
    chain[0].largest = hn::Max(chain[0].largest, chain[c].largest);
    chain[0].poison = hn::Add(chain[0].poison, chain[c].poison);
  }
  float smallest = hn::GetLane(hn::MinOfLanes(d, chain[0].smallest));
  float largest = hn::GetLane(hn::MaxOfLanes(d, chain[0].largest));
  bool finite = hn::AllTrue(d, hn::Eq(chain[0].poison, hn::Zero(d)));
  for (; i < n; ++i) {
    smallest = values[i] < smallest ? values[i] : smallest;
    largest = values[i] > largest ? values[i] : largest;
    finite = finite && values[i] * 0.0f == 0.0f;
  }
  return ValueRange{smallest + 0.0f, largest + 0.0f, finite};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_RANGE_INL_H_
