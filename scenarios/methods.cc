#include "scenarios/methods.h"

#include <cstdio>
#include <cstdlib>

namespace gradwire::scenarios {
namespace {

std::string percent(const std::string& ratio) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g%%", 100 * std::strtod(ratio.c_str(), nullptr));
  return text;
}

}  // namespace

const compressors::CodecInfo* find_codec(const std::string& name) {
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue())
    if (codec.name == name) return &codec;
  return nullptr;
}

compressors::CodecPtr make_method_codec(const Method& method) {
  compressors::CodecPtr codec = compressors::make_codec(method.name, method.options);
  return method.error_feedback ? compressors::with_error_feedback(std::move(codec)) : codec;
}

std::string method_label(const Method& method) {
  std::string label = method.name;
  const compressors::CodecInfo* codec = find_codec(method.name);
  if (codec) {
    for (const OptionSpec& option : codec->options) {
      const auto given = method.options.find(option.name);
      const bool ratio = option.name == "ratio";
      const std::string text = given == method.options.end() ? option.default_text : given->second;
      const bool changed = parse_option(option, text) != parse_option(option, option.default_text);
      if (ratio) label += " " + percent(text);
      if (!ratio && changed) label += " " + option.name + " " + text;
    }
  }
  return label + (method.error_feedback ? " +ef" : "");
}

std::string method_label(const Scenario& scenario) {
  const WorkloadKind kind = scenario.workload.kind;
  const bool steps = kind == WorkloadKind::kTraining || kind == WorkloadKind::kProfile;
  return steps ? method_label(scenario.method) : "none";
}

}  // namespace gradwire::scenarios
