#include "compressors/codecs/half_codec.h"

namespace gradwire::compressors {

CodecRow bf16_row() {
  return {{.name = "bf16",
           .summary = "values rounded to bfloat16 (binary32's range, 8 bits of precision), to "
                      "nearest even",
           .source = "Kalamkar et al., arXiv 1905.12322",
           .policy = AggregatePolicy::kSum,
           .unbiased = false,
           .options = {half_overflow_option("3.39e38")},
           .float_bits = 16},
          [](const OptionValues& options) -> CodecPtr {
            return make_half_codec("bf16", kernels::HalfFormat::kBfloat16,
                                   options.text("overflow") == "saturate");
          }};
}

}  // namespace gradwire::compressors
