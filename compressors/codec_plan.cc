#include "compressors/codec_plan.h"

namespace gradwire::compressors {
namespace {

/// A dense codec sends every element in every step: masked, momentum would never build up.
MomentumCorrection momentum_of(const CodecPlan& plan, const CodecChoice& choice) {
  const MomentumPlan& wanted = *plan.momentum_correction;
  return {.momentum = wanted.momentum,
          .nesterov = wanted.nesterov,
          .masking = wanted.masking && is_sparse_codec(choice.name),
          .clip = wanted.clip,
          .workers = wanted.workers};
}

CodecPtr chain(const CodecPlan& plan, const CodecChoice& choice) {
  CodecPtr codec = make_codec(choice.name, choice.options);
  const bool lossless = is_plain_codec(choice.name);
  if (plan.momentum_correction)
    codec = with_momentum_correction(std::move(codec), momentum_of(plan, choice));
  else if (plan.error_feedback && !lossless)
    codec = with_error_feedback(std::move(codec));
  return plan.clipping ? with_clipping(std::move(codec), *plan.clipping) : codec;
}

}  // namespace

CodecPtr make_codec(const CodecPlan& plan) {
  // Equal choices are one codec: exchanges keep together what one codec encodes.
  std::map<std::pair<std::string, std::map<std::string, std::string>>, CodecPtr> made;
  const auto once = [&](const CodecChoice& choice) {
    CodecPtr& codec = made[{choice.name, choice.options}];
    if (!codec) codec = chain(plan, choice);
    return codec;
  };
  std::vector<std::pair<TensorRule, CodecPtr>> rules;
  for (const RulePlan& rule : plan.rules) rules.emplace_back(rule.tensors, once(rule.codec));
  return with_rules(std::move(rules), once(plan.codec));
}

}  // namespace gradwire::compressors
