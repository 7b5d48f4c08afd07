#include "scenarios/build/build_parts.h"
#include "scenarios/methods.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

compressors::CodecChoice choice_of(const ordered_json& json) {
  compressors::CodecChoice choice;
  for (const auto& [key, value] : json.items()) {
    if (key == "name")
      choice.name = value.get<std::string>();
    else
      choice.options[key] = option_text(value);
  }
  return choice;
}

compressors::Clipping clipping_of(const ordered_json& json) {
  using compressors::ClipBy;
  std::string by;
  compressors::Clipping clipping;
  take(json, "by", by);
  take(json, "threshold", clipping.threshold);
  clipping.by = by == "value" ? ClipBy::kValue : by == "sigma" ? ClipBy::kSigma : ClipBy::kNorm;
  return clipping;
}

compressors::MomentumPlan momentum_of(const ordered_json& json) {
  compressors::MomentumPlan plan;
  take(json, "momentum", plan.momentum);
  take(json, "nesterov", plan.nesterov);
  take(json, "masking", plan.masking);
  take(json, "clip", plan.clip);
  return plan;
}

compressors::RulePlan rule_of(const ordered_json& json) {
  compressors::RulePlan rule;
  take(json, "tensors", rule.tensors.names);
  take(json, "elements_from", rule.tensors.elements_from);
  take(json, "elements_below", rule.tensors.elements_below);
  take(json, "dimensions_from", rule.tensors.dimensions_from);
  take(json, "dimensions_below", rule.tensors.dimensions_below);
  rule.codec = choice_of(member(json, "codec"));
  return rule;
}

void fill_compressed(const ordered_json& json, Method& method) {
  method.plan.codec = choice_of(member(json, "codec"));
  method.plan.error_feedback = method.error_feedback;
  if (json.contains("momentum_correction"))
    method.plan.momentum_correction = momentum_of(json["momentum_correction"]);
  if (json.contains("clip")) method.plan.clipping = clipping_of(json["clip"]);
  for (const ordered_json& rule : member(json, "rules")) method.plan.rules.push_back(rule_of(rule));
}

}  // namespace

void fill_method(const ordered_json& json, Method& method) {
  take(json, "name", method.name);
  take(json, "error_feedback", method.error_feedback);
  if (method.name == "compressed") return fill_compressed(json, method);
  for (const auto& [key, value] : json.items()) {
    if (key == "name" || key == "error_feedback") continue;
    method.options[key] = option_text(value);
  }
}

}  // namespace gradwire::scenarios
