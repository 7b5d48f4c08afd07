#include "compressors/codecs/sign/kernel.h"

#include "compressors/codecs/sign/arithmetic.h"
#include "compressors/ordered_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/sign/kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// What is encoded: a tensor, or a tensor plus its residual.
struct Plain {
  const float* values;
  HWY_INLINE float scalar(std::size_t i) const { return values[i]; }
  HWY_INLINE FloatVector vector(std::size_t i) const { return load_floats(values + i); }
  HWY_INLINE void prefetch(std::size_t i) const { prefetch_ahead(values + i); }
};

struct Corrected {
  const float* values;
  const float* residual;
  HWY_INLINE float scalar(std::size_t i) const { return values[i] + residual[i]; }
  HWY_INLINE FloatVector vector(std::size_t i) const {
    return hn::Add(hn::LoadU(FloatTag(), values + i), hn::LoadU(FloatTag(), residual + i));
  }
  HWY_INLINE void prefetch(std::size_t i) const {
    prefetch_ahead(values + i);
    prefetch_ahead(residual + i);
  }
};

inline constexpr std::size_t kGroup = 64;  ///< elements an iteration: 8 bytes of bits

#if HWY_TARGET != HWY_SCALAR
using WideTag = hn::CappedTag<double, 8>;
inline constexpr std::size_t kWide = hn::MaxLanes(WideTag());
inline constexpr std::size_t kSumVectors = kSumPartials / kWide;

/// Whole groups of one block: their bits, and the 16 partial sums of |x|. Returns how many elements
/// were done.
template <class Source>
HWY_INLINE std::size_t sign_groups(const Source& source, std::size_t begin, std::size_t n,
                                   std::byte* bits, double* partials) {
  const WideTag wide;
  const hn::Half<FloatTag> half;
  hn::Vec<WideTag> sums[kSumVectors];
#pragma GCC unroll 16
  for (std::size_t j = 0; j < kSumVectors; ++j) sums[j] = hn::Zero(wide);
  std::size_t i = 0;
  for (; i + kGroup <= n; i += kGroup) {
    std::uint64_t negative = 0;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kGroup; v += kFloats) {
      const auto value = source.vector(begin + i + v);
      const auto magnitude = hn::Abs(value);
      const std::size_t j = v % kSumPartials / kWide;
      sums[j] = hn::Add(sums[j], hn::PromoteTo(wide, hn::LowerHalf(half, magnitude)));
      sums[j + 1] = hn::Add(sums[j + 1], hn::PromoteTo(wide, hn::UpperHalf(half, magnitude)));
      const auto below = hn::Lt(value, hn::Zero(FloatTag()));
      negative |= std::uint64_t{mask_bits(below)} << v;
    }
#pragma GCC unroll 4
    for (std::size_t line = 0; line < kGroup; line += 16) source.prefetch(begin + i + line);
    std::memcpy(bits + i / 8, &negative, 8);
  }
#pragma GCC unroll 16
  for (std::size_t j = 0; j < kSumVectors; ++j) hn::StoreU(sums[j], wide, partials + j * kWide);
  return i;
}
#endif

/// One block of the ordered sum; begin is a multiple of 8.
template <class Source>
HWY_INLINE double sign_block(const Source& source, std::size_t begin, std::size_t n,
                             std::byte* bits) {
  double partials[kSumPartials] = {};
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  i = sign_groups(source, begin, n, bits, partials);
#endif
  for (; i < n; ++i) {
    const float value = source.scalar(begin + i);
    if (i % 8 == 0) bits[i / 8] = std::byte{0};
    bits[i / 8] |= static_cast<std::byte>(sign_bit(value) << (i % 8));
    partials[i % kSumPartials] += static_cast<double>(float_of(magnitude_bits(value)));
  }
  return fold_partials(partials);
}

template <class Source>
HWY_INLINE void sign_blocks(const Source& source, std::size_t n, std::byte* bits, double* sums) {
  for (std::size_t begin = 0; begin < n; begin += kSumBlock)
    sums[begin / kSumBlock] =
        sign_block(source, begin, std::min(kSumBlock, n - begin), bits + begin / 8);
}

HWY_ATTR void SignBits(const float* values, std::size_t n, std::byte* bits, double* sums) {
  sign_blocks(Plain{values}, n, bits, sums);
}
HWY_ATTR void SignBitsOfSum(const float* values, const float* residual, std::size_t n,
                            std::byte* bits, double* sums) {
  sign_blocks(Corrected{values, residual}, n, bits, sums);
}

HWY_ATTR void SignResidual(const float* values, std::size_t n, float scale, float* residual) {
  const Corrected source{values, residual};
  const FloatTag d;
  const auto plus = hn::Set(d, scale), minus = hn::Set(d, -scale);
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    const auto sum = source.vector(i);
    const auto sent = hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), minus, plus);
    source.prefetch(i);
    hn::StoreU(hn::Sub(sum, sent), d, residual + i);
  }
  for (; i < n; ++i) {
    const float sum = source.scalar(i);
    residual[i] = sum - (sign_bit(sum) != 0 ? -scale : scale);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(SignBits);
HWY_EXPORT(SignBitsOfSum);
HWY_EXPORT(SignResidual);

void sign_bits(const float* values, std::size_t n, std::byte* bits, double* sums) {
  HWY_DYNAMIC_DISPATCH(SignBits)(values, n, bits, sums);
}
void sign_bits_of_sum(const float* values, const float* residual, std::size_t n, std::byte* bits,
                      double* sums) {
  HWY_DYNAMIC_DISPATCH(SignBitsOfSum)(values, residual, n, bits, sums);
}
void sign_residual(const float* values, std::size_t n, float scale, float* residual) {
  HWY_DYNAMIC_DISPATCH(SignResidual)(values, n, scale, residual);
}

}  // namespace gradwire::compressors::kernels
#endif
