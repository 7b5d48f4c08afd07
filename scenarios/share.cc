#include "scenarios/share.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/child_process.h"
#include "base/error.h"
#include "base/joined_texts.h"
#include "base/options.h"
#include "base/program_part.h"

namespace gradwire::scenarios {

namespace fs = std::filesystem;

std::string share_folder() {
  std::vector<std::string> candidates;
  if (const char* given = std::getenv("GRADWIRE_SHARE"); given && *given)
    candidates = {given};
  else if (is_installed())  // never where it was built
    candidates = {executable_folder() + "/../share/gradwire/scenarios"};
  else
    candidates = {executable_folder() + "/../share/gradwire/scenarios", GRADWIRE_SOURCE_SHARE};
  std::error_code ignored;
  for (const std::string& folder : candidates)
    if (fs::is_directory(fs::path(folder) / "profiles", ignored)) return folder;
  throw Error(ErrorKind::kFailure, "find", "the shipped scenarios",
              "there is no folder " + candidates.back() + "/profiles",
              "set GRADWIRE_SHARE to the folder that holds them");
}

std::vector<std::string> json_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".json" && entry.path().filename() != "schema.json")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string find_scenario_file(const std::string& name_or_path) {
  std::error_code ignored;
  if (fs::is_regular_file(name_or_path, ignored)) return name_or_path;
  const bool plain =
      name_or_path.find('/') == std::string::npos || name_or_path.starts_with("methods/");
  const std::string shipped = plain ? share_folder() + "/" + name_or_path + ".json" : "";
  if (plain && fs::is_regular_file(shipped, ignored)) return shipped;
  if (fs::is_directory(name_or_path, ignored))
    throw Error(ErrorKind::kScenario, "read scenario", name_or_path, "it is a folder",
                "name the files in it: " + (fs::path(name_or_path) / "*.json").string());
  std::vector<std::string> names;
  if (plain) names = json_names(share_folder());
  const std::string near = nearest_name(name_or_path, names);
  throw Error(ErrorKind::kScenario, "read scenario", name_or_path, "there is no such file",
              near.empty() ? (names.empty() ? "" : "shipped: " + joined_texts(names, ", "))
                           : "did you mean \"" + near + "\"?");
}

std::string relative_to_file(std::string_view path, std::string_view file) {
  return (fs::path(file).parent_path() / fs::path(path)).lexically_normal().string();
}

}  // namespace gradwire::scenarios
