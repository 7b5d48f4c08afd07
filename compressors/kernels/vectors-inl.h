// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_VECTORS_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_VECTORS_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_VECTORS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compressors/arithmetic/bits.h"

/// Vectors of up to 16 floats, their magnitudes, masks as integers, and stores past the caches.
HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using FloatVector = hn::Vec<FloatTag>;
using UintTag = hn::RebindToUnsigned<FloatTag>;
using UintVector = hn::Vec<UintTag>;
using IntTag = hn::RebindToSigned<FloatTag>;
using IntVector = hn::Vec<IntTag>;
inline constexpr std::size_t kFloats = hn::MaxLanes(FloatTag());

/// Magnitude bits as signed integers: they are never negative, and signed maxima are cheaper.
HWY_INLINE IntVector magnitudes(FloatVector values) {
  return hn::BitCast(IntTag(), hn::Abs(values));
}

HWY_INLINE std::uint32_t reduce_max(IntVector largest) {
  return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(IntTag(), largest)));
}

/// Bit l = lane l. (Through memory where Highway has no other way.)
HWY_INLINE std::uint32_t mask_bits(hn::Mask<FloatTag> mask) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return mask.raw;
#elif HWY_TARGET == HWY_AVX2
  return static_cast<std::uint32_t>(_mm256_movemask_ps(mask.raw));
#else
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(FloatTag(), mask, bytes);
  return bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8;
#endif
}

/// Asks for what a loop will read some iterations later. Never faults.
HWY_INLINE void prefetch_ahead(const void* at) {
  hwy::Prefetch(static_cast<const std::uint8_t*>(at) + 4096);
}

/// Outputs at least this large are written past the caches: they would not stay there anyway.
inline constexpr std::size_t kStreamedBlock = 8192;  ///< bytes that stay in the first-level cache

HWY_INLINE void stream_bytes(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to) {
  const hn::CappedTag<std::uint8_t, 64> d;
  constexpr std::size_t kWidth = hn::MaxLanes(hn::CappedTag<std::uint8_t, 64>());
  const std::size_t head = std::min(bytes, (64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64);
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; at + 64 <= bytes; at += 64)  // whole lines: parts of one would be written twice
    for (std::size_t part = 0; part < 64; part += kWidth)
      hn::Stream(hn::LoadU(d, from + at + part), d, to + at + part);
  std::memcpy(to + at, from + at, bytes - at);
}

/// Makes n elements of kOut bytes each at `out`. make(begin, count, to) makes `count` of them from
/// element `begin` on; begin is a multiple of 512. Streamed outputs are made block by block in the
/// first-level cache, so that no alignment is required.
template <std::size_t kOut, class Make>
HWY_INLINE void make_output(std::size_t n, bool streamed, void* out, Make&& make) {
  auto* bytes = static_cast<std::uint8_t*>(out);
  if (!streamed) {
    make(std::size_t{0}, n, bytes);
    return;
  }
  constexpr std::size_t kBlock = kStreamedBlock / kOut;
  alignas(64) std::uint8_t block[kStreamedBlock];
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t count = std::min(kBlock, n - begin);
    make(begin, count, block);
    stream_bytes(block, count * kOut, bytes + begin * kOut);
  }
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_VECTORS_INL_H_
