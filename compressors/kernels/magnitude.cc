#include "compressors/kernels/magnitude.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/magnitude.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

HWY_ATTR std::uint32_t MaxMagnitude(const float* values, std::size_t n) {
  const FloatTag d;
  auto even = hn::Zero(IntTag()), odd = even;
  std::size_t i = 0;
  for (; i + 2 * kFloats <= n; i += 2 * kFloats) {
    even = hn::Max(even, magnitudes(hn::LoadU(d, values + i)));
    odd = hn::Max(odd, magnitudes(hn::LoadU(d, values + i + kFloats)));
    prefetch_ahead(values + i);
    prefetch_ahead(values + i + kFloats);
  }
  std::uint32_t largest = reduce_max(hn::Max(even, odd));
  for (; i < n; ++i) largest = std::max(largest, magnitude_bits(values[i]));
  return largest;
}

HWY_ATTR std::uint32_t AddMaxMagnitude(const float* values, float* sums, std::size_t n) {
  const FloatTag d;
  auto vector_max = hn::Zero(IntTag());
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    const auto sum = hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, values + i));
    hn::StoreU(sum, d, sums + i);
    vector_max = hn::Max(vector_max, magnitudes(sum));
  }
  std::uint32_t largest = reduce_max(vector_max);
  for (; i < n; ++i) {
    sums[i] += values[i];
    largest = std::max(largest, magnitude_bits(sums[i]));
  }
  return largest;
}

HWY_ATTR std::uint32_t CopyMaxMagnitude(const float* values, std::size_t n, bool streamed,
                                        std::byte* copy) {
  std::uint32_t largest = 0;
  constexpr std::size_t kBlock = 2048;  // stays in the first-level cache for the copy
  auto* to = reinterpret_cast<std::uint8_t*>(copy);
  for (std::size_t i = 0; i < n; i += kBlock) {
    const std::size_t count = std::min(kBlock, n - i);
    largest = std::max(largest, MaxMagnitude(values + i, count));
    const auto* from = reinterpret_cast<const std::uint8_t*>(values + i);
    if (streamed)
      stream_bytes(from, 4 * count, to + 4 * i);
    else
      std::memcpy(to + 4 * i, from, 4 * count);
  }
  if (streamed) hwy::FlushStream();
  return largest;
}

template <bool kAdd>
HWY_INLINE void scale_floats(const std::byte* values, std::size_t n, float factor, float* out) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(values);
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const FloatTag d;
  const hn::Repartition<std::uint8_t, FloatTag> bytes;
  const auto factors = hn::Set(d, factor);
  for (; i + kFloats <= n; i += kFloats) {
    auto value = hn::Mul(factors, hn::BitCast(d, hn::LoadU(bytes, from + 4 * i)));
    if constexpr (kAdd) value = hn::Add(hn::LoadU(d, out + i), value);
    hn::StoreU(value, d, out + i);
    prefetch_ahead(from + 4 * i);
    if constexpr (kAdd) prefetch_ahead(out + i);
  }
#endif
  for (; i < n; ++i) {
    float value;
    std::memcpy(&value, from + 4 * i, 4);
    out[i] = kAdd ? out[i] + factor * value : factor * value;
  }
}

HWY_ATTR void AddScaled(const std::byte* values, std::size_t n, float factor, float* sums) {
  scale_floats<true>(values, n, factor, sums);
}
HWY_ATTR void StoreScaled(const std::byte* values, std::size_t n, float factor, float* to) {
  scale_floats<false>(values, n, factor, to);
}

HWY_ATTR void ScaleAndAdd(float factor, const float* added, float weight, std::size_t n,
                          float* values) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const FloatTag d;
  const auto factors = hn::Set(d, factor), weights = hn::Set(d, weight);
  for (; i + kFloats <= n; i += kFloats) {
    const auto scaled = hn::Mul(factors, hn::LoadU(d, values + i));
    hn::StoreU(hn::Add(scaled, hn::Mul(weights, hn::LoadU(d, added + i))), d, values + i);
    prefetch_ahead(values + i);
    prefetch_ahead(added + i);
  }
#endif
  for (; i < n; ++i) {
    const float scaled = factor * values[i], more = weight * added[i];
    values[i] = scaled + more;
  }
}

HWY_ATTR void CopyBytes(const std::byte* from, std::size_t bytes, std::byte* to) {
  constexpr std::size_t kBlock = 8192;
  for (std::size_t at = 0; at < bytes; at += kBlock)
    stream_bytes(reinterpret_cast<const std::uint8_t*>(from + at), std::min(kBlock, bytes - at),
                 reinterpret_cast<std::uint8_t*>(to + at));
  hwy::FlushStream();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(MaxMagnitude);
HWY_EXPORT(AddMaxMagnitude);
HWY_EXPORT(CopyMaxMagnitude);
HWY_EXPORT(AddScaled);
HWY_EXPORT(StoreScaled);
HWY_EXPORT(ScaleAndAdd);
HWY_EXPORT(CopyBytes);

std::uint32_t max_magnitude_bits(const float* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(MaxMagnitude)(values, n);
}
std::uint32_t add_max_magnitude_bits(const float* values, float* sums, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(AddMaxMagnitude)(values, sums, n);
}
std::uint32_t copy_max_magnitude_bits(const float* values, std::size_t n, bool streamed,
                                      std::byte* copy) {
  return HWY_DYNAMIC_DISPATCH(CopyMaxMagnitude)(values, n, streamed, copy);
}
void add_scaled(const std::byte* values, std::size_t n, float factor, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddScaled)(values, n, factor, sums);
}
void store_scaled(const std::byte* values, std::size_t n, float factor, float* to) {
  HWY_DYNAMIC_DISPATCH(StoreScaled)(values, n, factor, to);
}
void scale_and_add(float factor, const float* added, float weight, std::size_t n, float* values) {
  HWY_DYNAMIC_DISPATCH(ScaleAndAdd)(factor, added, weight, n, values);
}
void copy_bytes(const std::byte* from, std::size_t bytes, bool streamed, std::byte* to) {
  if (streamed)
    HWY_DYNAMIC_DISPATCH(CopyBytes)(from, bytes, to);
  else if (bytes > 0)
    std::memcpy(to, from, bytes);
}

}  // namespace gradwire::compressors::kernels
#endif
