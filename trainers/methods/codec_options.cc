#include "trainers/methods/codec_options.h"

#include <algorithm>

#include "base/exact_text.h"

namespace gradwire::methods {
namespace {

std::string text_of(const OptionValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const double* number = std::get_if<double>(&value)) return exact_text(*number);
  return std::get<std::string>(value);
}

}  // namespace

const OptionTable& codec_options(const std::string& codec) {
  const compressors::CodecInfo* info = compressors::find_codec(codec);
  GRADWIRE_ASSERT(info != nullptr);
  return info->options;
}

OptionSpec codec_option(const std::string& codec, const std::string& name, const char* help) {
  const OptionTable& options = codec_options(codec);
  const auto found = std::ranges::find(options, name, &OptionSpec::name);
  GRADWIRE_ASSERT(found != options.end());
  OptionSpec option = *found;
  option.help = help;
  return option;
}

compressors::CodecChoice codec_choice(const std::string& codec, const OptionValues& values) {
  compressors::CodecChoice choice{.name = codec};
  for (const OptionSpec& option : codec_options(codec)) {
    const OptionValue& value = values.all().find(option.name)->second;
    choice.options[option.name] = text_of(value);
  }
  return choice;
}

OptionSpec down_option(const char* default_text, const char* help) {
  return {.name = "down",
          .type = OptionType::kChoice,
          .default_text = default_text,
          .help = help,
          .choices = {"f32", "same"}};
}

}  // namespace gradwire::methods
