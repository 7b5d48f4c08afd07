#include "cli/help/option_table.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace gradwire::cli {
namespace {

nlohmann::ordered_json bound(double value) {
  if (value == std::floor(value) && std::abs(value) <= 9007199254740992.0)
    return static_cast<std::int64_t>(value);
  return value;
}

nlohmann::ordered_json option_json(const OptionSpec& option) {
  nlohmann::ordered_json json = {{"name", option.name},
                                 {"type", name_of(option.type)},
                                 {"default", option.default_text},
                                 {"help", option.help}};
  if (!option.choices.empty()) json["choices"] = option.choices;
  if (std::isfinite(option.min)) json["min"] = bound(option.min);
  if (option.min_exclusive) json["min_exclusive"] = true;
  if (std::isfinite(option.max)) json["max"] = bound(option.max);
  if (option.max_exclusive) json["max_exclusive"] = true;
  return json;
}

}  // namespace

std::string defaults_text(const OptionTable& options) {
  std::string text;
  for (const OptionSpec& option : options)
    text += (text.empty() ? "" : ", ") + option.name + "=" + option.default_text;
  return text;
}

nlohmann::ordered_json table_json(const OptionTable& options) {
  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  for (const OptionSpec& option : options) table.push_back(option_json(option));
  return table;
}

}  // namespace gradwire::cli
