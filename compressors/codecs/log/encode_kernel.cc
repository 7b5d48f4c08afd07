#include "compressors/codecs/log/kernel.h"

#include "compressors/arithmetic/power_of_two.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/log/encode_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/small_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Subnormals are 0 here: emax - 30 > -126 + 1.
struct LogCoder {
  int emax;
  static constexpr int kSmallestEmax = -94;
  HWY_INLINE IntVector vector(FloatVector value) const {
    const auto exponent =
        hn::ShiftRight<23>(hn::Add(magnitudes(value), ints(static_cast<int>(kPowerRounding))));
    const auto level = hn::Max(hn::Sub(ints(emax + 128), exponent), ints(1));
    const auto bits = hn::BitCast(UintTag(), value);
    const auto sign =
        hn::BitCast(IntTag(), hn::And(hn::ShiftRight<26>(bits), hn::Set(UintTag(), 32)));
    return hn::IfThenZeroElse(hn::Gt(level, ints(kLogLevels)), hn::Or(level, sign));
  }
  HWY_INLINE std::uint32_t scalar(float value) const { return log_code(value, emax); }
};

HWY_ATTR std::uint32_t LogCodes(const float* values, std::size_t n, int emax, std::uint8_t* codes) {
  if (emax >= LogCoder::kSmallestEmax) return make_codes(LogCoder{emax}, values, n, codes);
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < n; ++i) {
    codes[i] = static_cast<std::uint8_t>(log_code(values[i], emax));
    seen = std::max(seen, magnitude_bits(values[i]));
  }
  return seen;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(LogCodes);

std::uint32_t log_codes(const float* values, std::size_t n, int emax, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(LogCodes)(values, n, emax, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
