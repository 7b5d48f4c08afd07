#include "compressors/codecs/level_coding.h"

#include "compressors/field_text.h"

namespace gradwire::compressors {

OptionSpec bits_option(std::string default_text, int smallest, int largest, std::string help) {
  return {.name = "bits",
          .type = OptionType::kInteger,
          .default_text = std::move(default_text),
          .help = std::move(help),
          .min = static_cast<double>(smallest),
          .max = static_cast<double>(largest)};
}

OptionSpec bucket_option(std::string default_text, std::string help) {
  return {.name = "bucket",
          .type = OptionType::kInteger,
          .default_text = std::move(default_text),
          .help = std::move(help),
          .min = 1,
          .max = 1 << 30};
}

OptionSpec rounding_option(std::string help) {
  return {.name = "rounding",
          .type = OptionType::kChoice,
          .default_text = "nearest",
          .help = std::move(help),
          .choices = {"nearest", "stochastic"}};
}

}  // namespace gradwire::compressors
