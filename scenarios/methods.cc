#include "scenarios/methods.h"

#include <cstdio>
#include <cstdlib>

#include "scenarios/build/build_parts.h"
#include "scenarios/document/values.h"
#include "scenarios/fields/fields.h"

namespace gradwire::scenarios {
namespace {

using compressors::CodecFamily;
using compressors::CodecInfo;
using compressors::CodecPlan;

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// "topk 1% indices=golomb": the ratio always, other options where they are not the default.
std::string label_of(const std::string& name, const OptionTable& table,
                     const std::map<std::string, std::string>& options) {
  std::string label = name;
  for (const OptionSpec& option : table) {
    const auto given = options.find(option.name);
    const std::string text = given == options.end() ? option.default_text : given->second;
    if (option.name == "ratio") {
      label += " " + number(100 * std::strtod(text.c_str(), nullptr)) + "%";
    } else if (given != options.end() &&
               (option.default_text.empty() ||
                parse_option(option, text) != parse_option(option, option.default_text))) {
      label += " " + option.name + "=" + text;
    }
  }
  return label;
}

std::string choice_label(const compressors::CodecChoice& choice) {
  const CodecInfo* codec = find_codec(choice.name);
  return codec ? label_of(choice.name, codec->options, choice.options) : choice.name;
}

const char* name_of(compressors::ClipBy by) {
  switch (by) {
    case compressors::ClipBy::kNorm:
      return "norm";
    case compressors::ClipBy::kValue:
      return "value";
    case compressors::ClipBy::kSigma:
      return "sigma";
  }
  return "?";
}

}  // namespace

std::string why_no_gradient_codec(const CodecInfo& codec) {
  if (codec.family != CodecFamily::kDense && codec.family != CodecFamily::kSparse)
    return "is for " + std::string(compressors::name_of(codec.family)) + ", not for gradients";
  if (codec.needs_mask)
    return "needs a mask that both sides know, which only a method that prunes can give";
  return "";
}

bool feeds_back_by_default(const std::string& name, const nlohmann::ordered_json& options) {
  const CodecInfo* codec = find_codec(name);
  if (!compressors::is_sparse_codec(name) || codec->unbiased) return false;
  const auto unbiased = options.find("unbiased");  // an option of some
  return unbiased == options.end() || *unbiased != true;
}

bool feeds_back_by_default(const methods::MethodRow& row) {
  if (row.feeds_back) return true;
  const auto method = row.make({.options = OptionValues(row.options, {})});
  return method->plan(0, method->phases() - 1).up.error_feedback;
}

std::unique_ptr<methods::Method> training_method(const Method& method, int workers) {
  if (const methods::MethodRow* row = methods::find_method(method.name))
    return row->make({.options = OptionValues(row->options, method.options),
                      .workers = workers,
                      .error_feedback = method.error_feedback});
  CodecPlan plan = method.plan;
  if (method.name != "compressed")
    plan = {.codec = {method.name, method.options}, .error_feedback = method.error_feedback};
  if (plan.momentum_correction) plan.momentum_correction->workers = workers;
  return methods::make_codec_method(plan);
}

std::unique_ptr<methods::Method> training_method(const Scenario& scenario) {
  return training_method(scenario.method, scenario.cluster.workers);
}

namespace {

CodecPlan plan_at_the_end(const methods::Method& method) {
  return method.plan(0, method.phases() - 1).up;
}

}  // namespace

CodecPlan codec_plan(const Method& method) {
  return plan_at_the_end(*training_method(method, 1));
}

CodecPlan codec_plan(const Scenario& scenario) {
  return plan_at_the_end(*training_method(scenario));
}

compressors::CodecPtr make_method_codec(const Method& method) {
  return compressors::make_codec(codec_plan(method));
}

std::string method_label(const Method& method) {
  if (const methods::MethodRow* row = methods::find_method(method.name)) {
    Method silent = method;
    silent.error_feedback = false;
    const bool usual = row->feeds_back || codec_plan(silent).error_feedback;
    return label_of(row->name, row->options, method.options) + (method.error_feedback == usual ? ""
                                                                : usual ? " -ef"
                                                                        : " +ef");
  }
  const CodecPlan plan = codec_plan(method);
  std::string label = choice_label(plan.codec);
  if (plan.momentum_correction) {
    label += " +mc " + number(plan.momentum_correction->momentum);
    if (plan.momentum_correction->nesterov) label += " nesterov";
    if (!plan.momentum_correction->masking) label += " unmasked";
    if (plan.momentum_correction->clip > 0)
      label += " clip " + number(plan.momentum_correction->clip);
  } else if (plan.error_feedback) {
    label += " +ef";
  }
  if (plan.clipping)
    label += " +clip " + std::string(name_of(plan.clipping->by)) + " " +
             number(plan.clipping->threshold);
  return label + (plan.rules.empty() ? "" : " +rules");
}

std::string schedule_label(const Scenario& scenario) {
  const auto schedule = scenario.json.find("schedule");
  if (schedule == scenario.json.end()) return "";
  std::string label;
  for (const auto& [key, value] : schedule->items()) {
    if (value.is_array()) continue;
    const std::string text = option_text(value);
    if (value == default_value(scenario_table().find("/schedule/" + key)->field())) continue;
    label += key == "kind" ? " @" + text : " " + key + "=" + text;
  }
  return label;
}

std::string method_label(const Scenario& scenario) {
  const WorkloadKind kind = scenario.workload.kind;
  const bool steps = kind == WorkloadKind::kTraining || kind == WorkloadKind::kProfile;
  return steps ? method_label(scenario.method) + schedule_label(scenario) : "none";
}

std::string policy_note(const Scenario& scenario) {
  const CodecPlan plan = codec_plan(scenario);
  if (!plan.decorated() || scenario.exchange.collective == "scatter-reduce") return "";
  const auto own = compressors::make_codec(plan.codec.name, plan.codec.options)->policy();
  const auto whole = compressors::make_codec(plan)->policy();
  if (own == whole) return "";
  const char* cause =
      plan.clipping && plan.rules.empty() ? "clipping of whole tensors" : "its rules";
  return "because of " + std::string(cause) + " messages are combined by " +
         std::string(compressors::name_of(whole)) + ", not by " +
         std::string(compressors::name_of(own)) + " as those of " + plan.codec.name + " alone";
}

std::string why_no_gradient_parts(const Scenario& scenario) {
  if (scenario.exchange.collective != "ring")
    return "only a ring's reduce-scatter leaves each worker with its part of the sum";
  const auto method = training_method(scenario);
  if (method->acts_on_model() || method->decides_every() > 0 || method->buffers() > 0)
    return "method " + scenario.method.name + " looks at the whole mean gradient at every worker";
  for (std::size_t set = 0; set < method->sets(); ++set) {
    for (std::size_t phase = 0; phase < method->phases(); ++phase) {
      const methods::SetPlan plan = method->plan(set, phase);
      const auto policy = compressors::make_codec(plan.up)->policy();
      if (policy != compressors::AggregatePolicy::kSum || plan.masked || !plan.up.rules.empty())
        return "messages of " + scenario.method.name +
               " do not add up on the way, so that every worker decodes all of every gradient";
    }
  }
  return "";
}

std::string exchange_conflict(compressors::AggregatePolicy policy, std::string_view collective) {
  using compressors::AggregatePolicy;
  if (collective == "parameter-server" || collective == "gossip" ||
      (collective == "ring" && policy != AggregatePolicy::kServer))
    return "";
  if (policy == AggregatePolicy::kServer)
    return "only a server can combine its messages; use parameter-server";
  if (collective == "scatter-reduce" || collective == "auto") return "";
  if (policy == AggregatePolicy::kSum && collective == "direct")
    return "its messages add up on the way and are not gathered; use ring, tree, "
           "halving-doubling, two-level, in-network or parameter-server";
  if (policy != AggregatePolicy::kSum && collective != "direct")
    return "its messages do not add up on the way; use ring, direct or parameter-server";
  return "";
}

}  // namespace gradwire::scenarios
