#pragma once
#include <cstdlib>
#include <string>

#include "scenarios/scenario.h"
#include "tests/quantities.h"

namespace gradwire::scenarios {

/// A scenario around `parts` (members, comma first), all of it on line 1.
inline std::string scenario_with(const std::string& parts,
                                 const std::string& workload = R"("workload": {})") {
  return R"({"schema_version": 1, "name": "t", )" + workload + parts + "}";
}

/// The problems of a text, one line each; empty if it has none.
inline std::string problems_of(const std::string& text, const std::string& path = "t.json") {
  try {
    read_scenario_text(text, path);
    return "";
  } catch (const ScenarioError& error) {
    return error.what();
  }
}

inline std::string source_folder() {
  return std::getenv("GRADWIRE_SOURCE_DIR");
}

}  // namespace gradwire::scenarios
