#include "compressors/codecs/binary/kernel.h"

#include "compressors/codecs/binary/arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/binary/kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/philox-inl.h"
#include "compressors/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

HWY_INLINE void put_bit(std::byte* bits, std::size_t i, std::uint32_t bit) {
  if (i % 8 == 0) bits[i / 8] = std::byte{0};
  bits[i / 8] |= static_cast<std::byte>(bit << (i % 8));
}

HWY_ATTR std::uint32_t PositiveBits(const float* values, std::size_t n, std::byte* bits) {
  auto largest = hn::Zero(IntTag());
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 64 <= n; i += 64) {
    std::uint64_t negative = 0;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < 64; v += kFloats) {
      const auto value = hn::LoadU(FloatTag(), values + i + v);
      largest = hn::Max(largest, magnitudes(value));
      prefetch_ahead(values + i + v);
      negative |= std::uint64_t{mask_bits(hn::Lt(value, hn::Zero(FloatTag())))} << v;
    }
    const std::uint64_t positive = ~negative;
    std::memcpy(bits + i / 8, &positive, 8);
  }
#endif
  std::uint32_t seen = reduce_max(largest);
  for (; i < n; ++i) {
    seen = std::max(seen, magnitude_bits(values[i]));
    put_bit(bits, i, values[i] < 0.0f ? 0u : 1u);
  }
  return seen;
}

struct BinaryEncoder {
  const float* values;
  std::byte* bits;
  std::uint32_t seen = 0;
  IntVector largest = hn::Zero(IntTag());

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    const FloatTag d;
    const auto scale = hn::Set(d, 8388608.0f);
    std::uint64_t drawn = 0;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const auto value = hn::LoadU(d, values + i + v * kFloats);
      largest = hn::Max(largest, magnitudes(value));
      const auto word = hn::BitCast(IntTag(), hn::ShiftRight<8>(words.vector[v]));
      const auto draw = hn::Sub(hn::ConvertTo(d, word), scale);
      drawn |= std::uint64_t{mask_bits(hn::Lt(draw, hn::Mul(value, scale)))} << (v * kFloats);
    }
    std::memcpy(bits + i / 8, &drawn, 8);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) {
    for (std::size_t j = 0; j < count; ++j) {
      seen = std::max(seen, magnitude_bits(values[i + j]));
      put_bit(bits, i + j, binary_draw(values[i + j], words[j]));
    }
  }
};

HWY_ATTR std::uint32_t DrawnBits(const float* values, std::size_t n, const Draws& draws,
                                 std::size_t begin, std::byte* bits) {
  BinaryEncoder encoder{values, bits};
  for_words(draws, begin, n, encoder);
  return std::max(encoder.seen, reduce_max(encoder.largest));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(PositiveBits);
HWY_EXPORT(DrawnBits);

std::uint32_t positive_bits(const float* values, std::size_t n, std::byte* bits) {
  return HWY_DYNAMIC_DISPATCH(PositiveBits)(values, n, bits);
}
std::uint32_t drawn_bits(const float* values, std::size_t n, const Draws& draws, std::size_t begin,
                         std::byte* bits) {
  return HWY_DYNAMIC_DISPATCH(DrawnBits)(values, n, draws, begin, bits);
}

}  // namespace gradwire::compressors::kernels
#endif
