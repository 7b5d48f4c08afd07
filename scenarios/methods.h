#pragma once
#include <memory>
#include <string>

#include "compressors/codec_plan.h"
#include "scenarios/scenario.h"
#include "trainers/methods/catalogue.h"

/// A scenario's method as a codec and as a label.
namespace gradwire::scenarios {

/// The method of a run: a row of the methods' catalogue, or one codec for all tensors. Throws
/// Error(kUsage) for options that do not go together.
std::unique_ptr<methods::Method> training_method(const Method& method, int workers);
std::unique_ptr<methods::Method> training_method(const Scenario& scenario);

/// What the tensors of set 0 end up with: any form of a method, the short one (`"name": "topk"`),
/// `compressed` and those of the catalogue, as one plan of a codec.
compressors::CodecPlan codec_plan(const Method& method);
/// The same as the scenario's workers make it: what depends on their number is filled in.
compressors::CodecPlan codec_plan(const Scenario& scenario);

/// The codec of the plan, with its decorators.
compressors::CodecPtr make_method_codec(const Method& method);

/// Short name for tables and charts: the codec, its ratio, options that differ from their defaults,
/// then decorators: "none", "topk 1% +ef", "terngrad clip=0", "dgc 0.1% +mc 0.9 +clip norm 1".
std::string method_label(const Method& method);
/// With its schedule: "none @rounds local_steps=5 sample=10".
std::string method_label(const Scenario& scenario);
/// What of the schedule is not as usual: " @rounds local_steps=5 sample=10", " local_steps=4".
std::string schedule_label(const Scenario& scenario);

using compressors::find_codec;

/// Why a codec cannot be a method (it is for weights, it needs a mask), or empty.
std::string why_no_gradient_codec(const compressors::CodecInfo& codec);

/// Error feedback where a scenario does not say: true for sparse codecs that are biased. `options`:
/// the object beside the codec's name.
bool feeds_back_by_default(const std::string& codec, const nlohmann::ordered_json& options);

/// The same of a method of the catalogue, which decides it.
bool feeds_back_by_default(const methods::MethodRow& row);

/// Where rules or clipping leave a method another way of combining messages than its codec's own:
/// which and why; else empty.
std::string policy_note(const Scenario& scenario);

/// Why workers cannot end with parts of the mean gradient in place of all of it, or empty.
std::string why_no_gradient_parts(const Scenario& scenario);

/// A codec of this policy cannot go with this /exchange/collective: why, or empty.
std::string exchange_conflict(compressors::AggregatePolicy policy, std::string_view collective);

}  // namespace gradwire::scenarios
