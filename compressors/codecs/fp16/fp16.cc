#include "compressors/codecs/half_codec.h"

namespace gradwire::compressors {

CodecRow fp16_row() {
  return {{.name = "fp16",
           .summary = "values rounded to binary16, to nearest even",
           .source = "IEEE 754 binary16; Micikevicius et al., arXiv 1710.03740",
           .policy = AggregatePolicy::kSum,
           .unbiased = false,
           .options = {half_overflow_option("65504"),
                       {.name = "not_finite",
                        .type = OptionType::kChoice,
                        .default_text = "refuse",
                        .help = "what becomes of NaN and infinity in what is sent: an error, or "
                                "sent as they are, for methods that skip such steps",
                        .choices = {"refuse", "send"}}},
           .float_bits = 16},
          [](const OptionValues& options) -> CodecPtr {
            return make_half_codec("fp16", kernels::HalfFormat::kBinary16,
                                   options.text("overflow") == "saturate",
                                   options.text("not_finite") == "send");
          }};
}

}  // namespace gradwire::compressors
