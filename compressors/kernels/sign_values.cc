#include "compressors/kernels/sign_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/sign_values.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

inline constexpr std::size_t kSigns = 64;  ///< elements an iteration: 8 bytes of bits

#if HWY_TARGET != HWY_SCALAR
/// Bit l of `bits` = lane l; higher bits may be set.
HWY_INLINE hn::Mask<FloatTag> mask_of_bits(std::uint64_t bits) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return hn::Mask<FloatTag>{static_cast<__mmask16>(bits)};
#else
  const auto byte = static_cast<std::uint8_t>(bits);
  return hn::LoadMaskBits(FloatTag(), &byte);
#endif
}
#endif

template <Output kOutput>
HWY_INLINE void decode_signs(const std::byte* bits, std::size_t n, float scale, float* values) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const FloatTag d;
  const auto plus = hn::Set(d, scale), minus = hn::Set(d, -scale);
  for (; i + kSigns <= n; i += kSigns) {
    std::uint64_t negative;
    std::memcpy(&negative, bits + i / 8, 8);
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kSigns; v += kFloats) {
      put<kOutput>(hn::IfThenElse(mask_of_bits(negative >> v), minus, plus), values + i + v);
    }
  }
#endif
  for (; i < n; ++i) {
    const bool minus_one = (bits[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0};
    const float value = minus_one ? -scale : scale;
    values[i] = kOutput == Output::kAdd ? values[i] + value : value;
  }
}

HWY_ATTR void SignValues(const std::byte* bits, std::size_t n, float scale, Output output,
                         float* values) {
  decode_to(output, n, values,
            [&](auto to_memory, std::size_t begin, std::size_t count, float* to) HWY_ATTR {
              decode_signs<decltype(to_memory)::value>(bits + begin / 8, count, scale, to);
            });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(SignValues);

void sign_values(const std::byte* bits, std::size_t n, float scale, Output output, float* values) {
  HWY_DYNAMIC_DISPATCH(SignValues)(bits, n, scale, output, values);
}

}  // namespace gradwire::compressors::kernels
#endif
