#include "trainers/methods/gossip_codec.h"

#include "base/exact_text.h"

namespace gradwire::methods {

OptionTable gossip_options() {
  return {{.name = "messages",
           .type = OptionType::kChoice,
           .default_text = "int8",
           .help = "What messages are encoded with; none: fp32.",
           .choices = {"none", "int8", "qsgd", "topk"}},
          {.name = "share",
           .type = OptionType::kNumber,
           .default_text = "0.1",
           .help = "Of topk: the share of elements that is sent.",
           .min = 0,
           .max = 1,
           .min_exclusive = true},
          {.name = "step",
           .type = OptionType::kNumber,
           .default_text = "1",
           .help = "gamma: how far a worker moves towards what its neighbours' messages say. The "
                   "fewer elements are sent, the smaller: 0.3 for a tenth, 0.01 for a hundredth.",
           .min = 0,
           .max = 1,
           .min_exclusive = true}};
}

compressors::CodecPlan gossip_codec(const OptionValues& options, bool error_feedback) {
  compressors::CodecPlan plan{.codec = {.name = options.text("messages"), .options = {}}};
  if (plan.codec.name == "topk") plan.codec.options["ratio"] = exact_text(options.number("share"));
  plan.error_feedback = error_feedback && !compressors::is_plain_codec(plan.codec.name);
  return plan;
}

}  // namespace gradwire::methods
