#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"

/// Values that replace a scenario file's, from several sources.
namespace gradwire::scenarios {

/// Replaces a value of a file, or a sweep's axis. The text is read as JSON if it parses, else as a
/// string.
struct Override {
  std::string pointer;
  std::string text;
  std::string origin = "--set";  ///< who says so, for messages and ResolvedValue
};
using Overrides = std::vector<Override>;

/// As those of scenarios/scenario.h; later overrides win. Throws ScenarioError with all problems.
ScenarioFile read_scenario_file(const std::string& path, std::span<const Override> overrides);
ScenarioFile read_scenario_text(std::string_view text, const std::string& path,
                                std::span<const Override> overrides);

}  // namespace gradwire::scenarios
