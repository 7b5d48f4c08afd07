#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Files that ship with the program: scenarios, their schema, profiles.
namespace gradwire::scenarios {

/// The folder of shipped scenarios: $GRADWIRE_SHARE, else ../share/gradwire/scenarios beside the
/// running program, else the source tree this was built from. Throws Error if none is there.
std::string share_folder();

/// Names (without ".json") of the files in `folder`, sorted; the schema is not among them.
std::vector<std::string> json_names(const std::string& folder);

/// A path as given if such a file exists, else a shipped scenario of that name. Throws Error naming
/// the nearest shipped one.
std::string find_scenario_file(const std::string& name_or_path);

/// `path` seen from the folder of `file` (absolute paths stay).
std::string relative_to_file(std::string_view path, std::string_view file);

}  // namespace gradwire::scenarios
