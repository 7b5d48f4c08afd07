#pragma once
#include <string_view>

#include "compressors/codecs/codecs.h"
#include "compressors/kernels/half.h"

namespace gradwire::compressors {

/// 16-bit floats, little-endian, 2 n bytes, rounded to nearest even. Policy kSum: terms are
/// binary32 and each hop rounds the partial sum. `saturate`: an overflow becomes the largest finite
/// value. `sends_all`: a NaN or an infinity is sent as it is, not refused.
CodecPtr make_half_codec(std::string_view name, kernels::HalfFormat format, bool saturate,
                         bool sends_all = false);

/// "overflow": infinity or saturate, beyond the largest value, which is named `largest`.
OptionSpec half_overflow_option(std::string_view largest);

}  // namespace gradwire::compressors
