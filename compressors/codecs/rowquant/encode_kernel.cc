#include "compressors/codecs/rowquant/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/rowquant/encode_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/grid_encoder-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

HWY_ATTR void RaiseMagnitudes(const float* values, std::size_t n, std::uint32_t* largest) {
  const LevelTag d;
  const LevelWordTag dw;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto magnitude = hn::BitCast(dw, hn::Abs(hn::LoadU(d, values + i)));
    hn::StoreU(hn::Max(hn::LoadU(dw, largest + i), magnitude), dw, largest + i);
  }
  for (; i < n; ++i) largest[i] = std::max(largest[i], magnitude_bits(values[i]));
}

struct ScaledEncoder {
  const float* values;
  const float* inverses;
  float half;
  std::uint8_t* codes;

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void unit(std::size_t i, const WordUnit&) const {
    const LevelTag d;
    const LevelIntTag di;
    const auto lowest = hn::Set(d, -half), highest = hn::Set(d, half - 1.0f);
    const auto offset = hn::Set(di, static_cast<std::int32_t>(half));
    WordUnit out;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const std::size_t at = i + v * kLevelLanes;
      const auto a = hn::Mul(hn::LoadU(d, values + at), hn::LoadU(d, inverses + at));
      const auto clipped = hn::Max(hn::Min(a, highest), lowest);
      out.vector[v] = hn::BitCast(WordTag(), hn::Add(hn::NearestInt(clipped), offset));
    }
    store_unit_codes<0>(out, codes + i);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t*) const {
    for (std::size_t j = i; j < i + count; ++j)
      codes[j] = static_cast<std::uint8_t>(scaled_code(values[j], inverses[j], half));
  }
};

HWY_ATTR void ScaledCodes(const float* values, const float* inverses, std::size_t n, float half,
                          std::uint8_t* codes) {
  encode_all(ScaledEncoder{values, inverses, half, codes}, 0, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(RaiseMagnitudes);
HWY_EXPORT(ScaledCodes);

void raise_magnitudes(const float* values, std::size_t n, std::uint32_t* largest) {
  HWY_DYNAMIC_DISPATCH(RaiseMagnitudes)(values, n, largest);
}
void scaled_codes(const float* values, const float* inverses, std::size_t n, float half,
                  std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(ScaledCodes)(values, inverses, n, half, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
