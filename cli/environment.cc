#include "cli/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/error.h"

namespace gradwire::cli {
namespace {

constexpr std::string_view kPrefix = "GRADWIRE_SET_";

/// Values by their variables' names without the prefix, in the order of the alphabet.
std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    found[std::string(text.substr(kPrefix.size(), equals - kPrefix.size()))] =
        text.substr(equals + 1);
  }
  return found;
}

}  // namespace

std::string pointer_of_variable(std::string_view name) {
  const bool capitals =
      std::ranges::none_of(name, [](unsigned char c) { return std::islower(c) != 0; });
  std::string pointer = "/";
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name.substr(at).starts_with("__") && at + 2 < name.size()) {
      pointer += '/';
      ++at;
    } else {
      const auto letter = static_cast<unsigned char>(name[at]);
      pointer += capitals ? static_cast<char>(std::tolower(letter)) : name[at];
    }
  }
  return pointer;
}

scenarios::Overrides overrides_of_environment() {
  scenarios::Overrides overrides;
  for (const auto& [name, value] : variables()) {
    if (name.empty())
      throw Error(ErrorKind::kUsage, "read the environment", std::string(kPrefix),
                  "it names no field",
                  "for example " + std::string(kPrefix) + "CLUSTER__WORKERS=8");
    overrides.push_back({pointer_of_variable(name), value, "environment"});
  }
  return overrides;
}

}  // namespace gradwire::cli
