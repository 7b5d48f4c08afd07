// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_SMALL_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_SMALL_CODES_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_SMALL_CODES_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_SMALL_CODES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "compressors/kernels/vectors-inl.h"

/// Encoders of codecs with few levels: codes pass through a buffer of bytes, one a code, that stays
/// in the first-level cache; compressors/kernels/levels.h packs them. Values that are not finite
/// are for the caller to refuse (their codes mean nothing).
HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// coder.vector gives the codes of kFloats values, coder.scalar that of one. Returns the largest
/// magnitude bits.
template <class Coder>
HWY_INLINE std::uint32_t make_codes(const Coder& coder, const float* values, std::size_t n,
                                    std::uint8_t* codes) {
  const hn::Rebind<std::uint8_t, FloatTag> bytes;
  auto largest = hn::Zero(IntTag());
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    const auto value = hn::LoadU(FloatTag(), values + i);
    prefetch_ahead(values + i);
    largest = hn::Max(largest, magnitudes(value));
    hn::StoreU(hn::DemoteTo(bytes, coder.vector(value)), bytes, codes + i);
  }
  std::uint32_t seen = reduce_max(largest);
  for (; i < n; ++i) {
    seen = std::max(seen, magnitude_bits(values[i]));
    codes[i] = static_cast<std::uint8_t>(coder.scalar(values[i]));
  }
  return seen;
}

HWY_INLINE IntVector ints(int value) {
  return hn::Set(IntTag(), value);
}
HWY_INLINE hn::Mask<IntTag> below_zero(FloatVector value) {
  return hn::RebindMask(IntTag(), hn::Lt(value, hn::Zero(FloatTag())));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif
