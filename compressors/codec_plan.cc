#include "compressors/codec_plan.h"

namespace gradwire::compressors {
namespace {

CodecPtr chain(const CodecPlan& plan, const CodecChoice& choice) {
  CodecPtr codec = make_codec(choice.name, choice.options);
  const bool lossless = choice.name == "none";
  if (plan.error_feedback && !lossless) codec = with_error_feedback(std::move(codec));
  return plan.clipping ? with_clipping(std::move(codec), *plan.clipping) : codec;
}

}  // namespace

CodecPtr make_codec(const CodecPlan& plan) {
  if (plan.momentum_correction)
    throw Error(ErrorKind::kUsage, "make codec", plan.codec.name,
                "this build has no momentum correction");
  std::vector<std::pair<TensorRule, CodecPtr>> rules;
  for (const RulePlan& rule : plan.rules) rules.emplace_back(rule.tensors, chain(plan, rule.codec));
  return with_rules(std::move(rules), chain(plan, plan.codec));
}

}  // namespace gradwire::compressors
