#include "compressors/codecs/dither/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/dither/decode_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/emit-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Shifted to where a float has its exponent, level j > 0 is 2^(j - 127), with its sign; two
/// products make it norm 2^(j - s), the first of them exact. Notes the level, in the highest bits.
struct DitherDecode {
  static constexpr CodeForm kForm = CodeForm::kTop;
  static constexpr bool kScaled = false;

  float norm;
  int levels, bits;
  float lowest = norm * normal_power_of_two(1 - levels);

  /// Else a value or the second factor may be subnormal.
  bool fits_vectors() const { return norm >= normal_power_of_two(levels - 127); }

  HWY_INLINE LevelVector value(const LevelWords& code, std::size_t) const {
    const LevelTag d;
    const LevelIntTag di;
    const auto level_bits = static_cast<std::int32_t>((1u << (bits - 1)) - 1) << 23;
    const auto float_bits = hn::And(hn::ShiftRightSame(hn::BitCast(di, code), 9 - bits),
                                    hn::Set(di, level_bits | INT32_MIN));
    const auto power = hn::Mul(hn::BitCast(d, float_bits), hn::Set(d, 0x1p126f));
    // The sum takes the sign from zeros, and leaves all other values as they are.
    return hn::MulAdd(power, hn::Set(d, lowest), hn::Zero(d));
  }
  HWY_INLINE float scalar(std::uint32_t code, std::size_t) const {
    return dither_value(code, norm, levels, bits);
  }
  HWY_INLINE LevelWords noted(const LevelWords& code) const { return hn::ShiftLeft<1>(code); }
  HWY_INLINE std::uint32_t noted(std::uint32_t code) const { return code << (33 - bits); }
};

HWY_ATTR std::uint32_t DitherValues(const PackedCodes& codes, std::size_t n, float norm, int levels,
                                    Output output, float factor, float* values) {
  const DitherDecode decode{norm, levels, codes.bits};
  const std::uint32_t largest = decode.fits_vectors()
                                    ? emit(decode, codes, n, output, factor, values)
                                    : emit_scalars(decode, codes, n, output, factor, values);
  return largest >> (33 - codes.bits);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(DitherValues);

std::uint32_t dither_values(const PackedCodes& codes, std::size_t n, float norm, int levels,
                            Output output, float factor, float* values) {
  return HWY_DYNAMIC_DISPATCH(DitherValues)(codes, n, norm, levels, output, factor, values);
}

}  // namespace gradwire::compressors::kernels
#endif
