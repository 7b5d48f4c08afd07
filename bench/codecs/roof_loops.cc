#include "bench/codecs/roof_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/codecs/roof_loops.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::bench::loops {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
constexpr std::size_t kLine = 16;        // floats of a cache line
constexpr std::size_t kAhead = 8 << 10;  // bytes

/// How many elements to treat singly until `address` begins a cache line.
HWY_INLINE std::size_t to_line(const float* address, std::size_t n) {
  const std::size_t misfit = reinterpret_cast<std::uintptr_t>(address) / 4 % kLine;
  return HWY_MIN(n, (kLine - misfit) % kLine);
}

HWY_INLINE void prefetch(const float* address) {
  hwy::Prefetch(reinterpret_cast<const char*>(address) + kAhead);
}

HWY_ATTR float Read(const float* values, std::size_t n) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  std::size_t i = 0;
  for (; i + 4 * kLine <= n; i += 4 * kLine) {
    for (std::size_t j = 0; j < 4 * kLine; j += kLine) prefetch(values + i + j);
    for (std::size_t j = 0; j < 4 * kLine; j += 4 * lanes) {
      sum0 = hn::Add(sum0, hn::LoadU(d, values + i + j));
      sum1 = hn::Add(sum1, hn::LoadU(d, values + i + j + lanes));
      sum2 = hn::Add(sum2, hn::LoadU(d, values + i + j + 2 * lanes));
      sum3 = hn::Add(sum3, hn::LoadU(d, values + i + j + 3 * lanes));
    }
  }
  float rest = 0;
  for (; i < n; ++i) rest += values[i];
  const auto sum = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
  return rest + hn::GetLane(hn::SumOfLanes(d, sum));
}

template <bool kPastCaches>
HWY_INLINE void store(hn::Vec<FloatTag> value, float* to) {
  if constexpr (kPastCaches)
    hn::Stream(value, FloatTag(), to);
  else
    hn::StoreU(value, FloatTag(), to);
}

template <bool kPastCaches>
HWY_INLINE void copy_loop(const float* from, float* to, std::size_t n) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (const std::size_t head = to_line(to, n); i < head; ++i) to[i] = from[i];
  for (; i + kLine <= n; i += kLine) {
    prefetch(from + i);
    for (std::size_t j = i; j < i + kLine; j += lanes)
      store<kPastCaches>(hn::LoadU(d, from + j), to + j);
  }
  for (; i < n; ++i) to[i] = from[i];
  if constexpr (kPastCaches) hwy::FlushStream();
}

HWY_ATTR void Copy(const float* from, float* to, std::size_t n, bool past_caches) {
  past_caches ? copy_loop<true>(from, to, n) : copy_loop<false>(from, to, n);
}

template <bool kPastCaches>
HWY_INLINE void fill_loop(float* to, std::size_t n, float value) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto filling = hn::Set(d, value);
  std::size_t i = 0;
  for (const std::size_t head = to_line(to, n); i < head; ++i) to[i] = value;
  for (; i + kLine <= n; i += kLine)
    for (std::size_t j = i; j < i + kLine; j += lanes) store<kPastCaches>(filling, to + j);
  for (; i < n; ++i) to[i] = value;
  if constexpr (kPastCaches) hwy::FlushStream();
}

HWY_ATTR void Fill(float* to, std::size_t n, float value, bool past_caches) {
  past_caches ? fill_loop<true>(to, n, value) : fill_loop<false>(to, n, value);
}

HWY_ATTR void Update(float* values, std::size_t n, float factor) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto times = hn::Set(d, factor);
  std::size_t i = 0;
  for (; i + kLine <= n; i += kLine) {
    prefetch(values + i);
    for (std::size_t j = i; j < i + kLine; j += lanes)
      hn::StoreU(hn::Mul(hn::LoadU(d, values + j), times), d, values + j);
  }
  for (; i < n; ++i) values[i] *= factor;
}

HWY_ATTR void Add(const float* values, float* sums, std::size_t n) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + kLine <= n; i += kLine) {
    prefetch(values + i);
    prefetch(sums + i);
    for (std::size_t j = i; j < i + kLine; j += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, sums + j), hn::LoadU(d, values + j)), d, sums + j);
  }
  for (; i < n; ++i) sums[i] += values[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::bench::loops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::bench::loops {

HWY_EXPORT(Read);
HWY_EXPORT(Copy);
HWY_EXPORT(Fill);
HWY_EXPORT(Update);
HWY_EXPORT(Add);

float read(const float* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(Read)(values, n);
}
void copy(const float* from, float* to, std::size_t n, bool past_caches) {
  HWY_DYNAMIC_DISPATCH(Copy)(from, to, n, past_caches);
}
void fill(float* to, std::size_t n, float value, bool past_caches) {
  HWY_DYNAMIC_DISPATCH(Fill)(to, n, value, past_caches);
}
void update(float* values, std::size_t n, float factor) {
  HWY_DYNAMIC_DISPATCH(Update)(values, n, factor);
}
void add(const float* values, float* sums, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(Add)(values, sums, n);
}

}  // namespace gradwire::bench::loops
#endif
