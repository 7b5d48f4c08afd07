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
#include <type_traits>

#include "compressors/arithmetic/bits.h"
#include "compressors/kernels/output.h"

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

HWY_INLINE UintVector sign_of(UintVector bits) {
  return hn::And(bits, hn::Set(UintTag(), 0x80000000u));
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

/// Keeps g++ from loading a value anew for each of its uses: loops would wait for loads.
template <class V>
HWY_INLINE void load_once([[maybe_unused]] V& value) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && defined(__GNUC__) && !defined(__clang__)
#if HWY_TARGET <= HWY_AVX3
  __asm__("" : "+v"(value.raw));
#else
  __asm__("" : "+x"(value.raw));
#endif
#endif
}

/// Floats that are used several times.
HWY_INLINE FloatVector load_floats(const float* values) {
  auto value = hn::LoadU(FloatTag(), values);
  load_once(value);
  return value;
}

/// Asks for what a loop will read some iterations later. Never faults.
HWY_INLINE void prefetch_ahead(const void* at) {
  hwy::Prefetch(static_cast<const std::uint8_t*>(at) + 8192);
}

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

/// values[0 ..] = value, or += value.
template <Output kOutput>
HWY_INLINE void put(FloatVector value, float* values) {
  const FloatTag d;
  if constexpr (kOutput == Output::kStream) {
    hn::Stream(value, d, values);
  } else if constexpr (kOutput == Output::kAdd) {
    prefetch_ahead(values);
    hn::StoreU(hn::Add(hn::LoadU(d, values), value), d, values);
  } else {
    hn::StoreU(value, d, values);
  }
}

template <Output kOutput>
using OutputConstant = std::integral_constant<Output, kOutput>;

/// Makes n elements of kOut bytes by make(OutputConstant, begin, count, to), which makes `count` of
/// them from element `begin` on, a multiple of 512. Streamed ones go straight to memory where `out`
/// begins a cache line; elsewhere block by block through the first-level cache, since parts of a
/// line would be written twice. Orders no streamed stores: for_ranges does, once for all parts.
template <std::size_t kOut, class Make>
HWY_INLINE void emit_to(Output output, std::size_t n, void* out, Make&& make) {
  auto* bytes = static_cast<std::uint8_t*>(out);
  if (output == Output::kStream && reinterpret_cast<std::uintptr_t>(out) % 64 == 0)
    make(OutputConstant<Output::kStream>(), std::size_t{0}, n, bytes);
  else
    make_output<kOut>(n, output == Output::kStream, out,
                      [&](std::size_t begin, std::size_t count, std::uint8_t* to)
                          HWY_ATTR { make(OutputConstant<Output::kStore>(), begin, count, to); });
}

/// The same for floats, which may also be added to what is there.
template <class Decode>
HWY_INLINE void decode_to(Output output, std::size_t n, float* values, Decode&& decode) {
  if (output == Output::kAdd) {
    decode(OutputConstant<Output::kAdd>(), std::size_t{0}, n, values);
    return;
  }
  emit_to<4>(output, n, values,
             [&](auto to_memory, std::size_t begin, std::size_t count, std::uint8_t* to)
                 HWY_ATTR { decode(to_memory, begin, count, reinterpret_cast<float*>(to)); });
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_VECTORS_INL_H_
