#include "scenarios/diverged.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include "scenarios/methods.h"

namespace gradwire::scenarios {
namespace {

/// The largest magnitude that the codec sends: what the largest float saturates to. 0 where it
/// sends no overflow as infinity, or only for those who skip such steps.
float largest_sent(compressors::CodecChoice codec) {
  const compressors::CodecInfo* info = find_codec(codec.name);
  const bool overflows = std::ranges::any_of(
      info->options, [](const OptionSpec& option) { return option.name == "overflow"; });
  if (!overflows || codec.options["overflow"] == "saturate" ||
      codec.options["not_finite"] == "send")
    return 0;
  const auto saturating = compressors::make_codec(codec.name, {{"overflow", "saturate"}});
  const float beyond = std::numeric_limits<float>::max();
  std::vector<std::byte> payload(saturating->max_encoded_size(1));
  compressors::EncodeJob job{.tensor = {.name = "", .shape = {}, .data = {&beyond, 1}},
                             .payload = payload};
  payload.resize(saturating->encode(job, {}));
  float largest = 0;
  saturating->decode({.payload = payload, .values = {&largest, 1}}, {});
  return largest;
}

}  // namespace

std::string overflow_of(const Scenario& scenario) {
  const compressors::CodecPlan plan = codec_plan(scenario);
  std::vector<compressors::CodecChoice> codecs = {plan.codec};
  for (const compressors::RulePlan& rule : plan.rules) codecs.push_back(rule.codec);
  for (const compressors::CodecChoice& codec : codecs) {
    const float largest = largest_sent(codec);
    if (largest == 0 || largest > 1e38f) continue;  // binary32 ends there as well
    char number[40];
    std::snprintf(number, sizeof number, "%.6g", static_cast<double>(largest));
    return "codec " + codec.name + " sends what is beyond " + number + " as infinity";
  }
  return "";
}

std::string diverged_remedy(const Scenario& scenario) {
  const std::string usual = "a smaller learning rate, or clipped gradients, may help";
  const std::string overflow = overflow_of(scenario);
  if (overflow.empty()) return usual;
  return overflow +
         ": bf16, overflow=saturate or the loss scaling of mixed-precision may help; else " + usual;
}

}  // namespace gradwire::scenarios
