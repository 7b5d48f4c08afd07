#include "cli/help/option_text.h"

#include <algorithm>

#include "base/joined_texts.h"

namespace gradwire::cli {
namespace {

/// What CLI11 says of an option's values, "INT:INT in [1 - 256]": their type and what is checked.
struct Values {
  std::string type;
  std::string check;
};

Values values_of(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const auto colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool takes_list(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

std::string value_word(const CLI::Option& option) {
  const Values values = values_of(option);
  if (values.check.starts_with("{")) return values.check;
  if (values.type == "INT" || values.type == "UINT") return "N";
  return values.type == "FLOAT" ? "X" : values.type;
}

/// "1 to 256" of "INT in [1 - 256]".
std::string range_text(const CLI::Option& option) {
  const std::string check = values_of(option).check;
  if (check == "NONNEGATIVE") return "0 or more";
  const auto begin = check.find(" in ["), middle = check.find(" - ");
  if (begin == std::string::npos || middle == std::string::npos) return {};
  const std::string low = check.substr(begin + 5, middle - begin - 5);
  return low + " to " + check.substr(middle + 3, check.find(']') - middle - 3);
}

std::string needed_options(const CLI::Option& option) {
  return joined_texts(option.get_needs(), ", ",
                      [](const CLI::Option* needed) { return needed->get_name(); });
}

}  // namespace

std::string option_title(const CLI::Option& option) {
  if (option.get_positional())
    return option.get_name(true, false) + (takes_list(option) ? "..." : "");
  std::string title = option.get_name(false, true);
  for (std::size_t at = 0; (at = title.find('{', at)) != std::string::npos;)  // --no-x{false}
    title.erase(at, title.find('}', at) + 1 - at);
  for (std::size_t at = 0; (at = title.find(",", at)) != std::string::npos; at += 2)
    title.replace(at, 1, ", ");
  const std::string value = value_word(option);
  if (value.empty()) return title;  // a flag
  const bool may_be_alone = option.get_expected_min() == 0 && !value.starts_with("[");
  return title + " " + (may_be_alone ? "[" + value + "]" : value) +
         (takes_list(option) ? "..." : "");
}

std::string option_help(const CLI::Option& option) {
  std::vector<std::string> remarks;
  if (option.get_required()) remarks.push_back("required");
  if (const std::string range = range_text(option); !range.empty()) remarks.push_back(range);
  if (!value_word(option).empty() && !option.get_default_str().empty())
    remarks.push_back("default " + option.get_default_str());
  if (const std::string names = needed_options(option); !names.empty())
    remarks.push_back("needs " + names);
  if (!option.get_envname().empty()) remarks.push_back("environment: " + option.get_envname());
  std::string text = option.get_description();
  if (remarks.empty()) return text;
  std::string list;
  for (const std::string& remark : remarks) list += (list.empty() ? "" : "; ") + remark;
  return text + " [" + list + "]";
}

std::vector<std::string> option_choices(const CLI::Option& option) {
  const std::string check = values_of(option).check;
  std::vector<std::string> choices;
  if (!check.starts_with("{")) return choices;
  const std::size_t end = check.find('}');
  for (std::size_t at = 1; at < end;) {
    const std::size_t comma = std::min(check.find(',', at), end);
    choices.push_back(check.substr(at, comma - at));
    at = comma + 1;
  }
  return choices;
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : command.get_options())
    if (option != command.get_help_ptr()) options.push_back(option);
  return options;
}

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

}  // namespace gradwire::cli
