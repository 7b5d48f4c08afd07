#pragma once
#include <string_view>

#include "compressors/codecs/codecs.h"
#include "compressors/kernels/half.h"

namespace gradwire::compressors {

/// 16-bit floats, little-endian, 2 n bytes, rounded to nearest even. Policy kSum: terms are
/// binary32 and each hop rounds the partial sum. `saturate`: an overflow becomes the largest finite
/// value. `sends_all`: a NaN or an infinity is sent as it is, not refused.
///
/// binary16 sends a sum of c workers times 2^-k, the largest power of two that is at most 1 / c, so
/// that sums of values in its range stay in its range. The product is exact: what is sent has the
/// digits of the unscaled sum, unless it is subnormal, below 2^-14. Its last place is then 2^-24,
/// under 2^-23 of the mean, where each worker's own value has been rounded to 2^-24 before.
/// Dividing by the number of workers before the first hop would take log2 c bits from every such
/// value; without a scale, sums are infinite from a mean of 65520 / c on. bfloat16, which has
/// binary32's range, needs no scale.
CodecPtr make_half_codec(std::string_view name, kernels::HalfFormat format, bool saturate,
                         bool sends_all = false);

/// "overflow": infinity or saturate, beyond the largest value, which is named `largest`.
OptionSpec half_overflow_option(std::string_view largest);

}  // namespace gradwire::compressors
