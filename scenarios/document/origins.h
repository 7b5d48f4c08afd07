#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace gradwire::scenarios {

/// Where the values of a resolved scenario come from, by the JSON pointer of each leaf: "scenario",
/// "sweep", an override's origin. Of what is not in it the default stands.
using Origins = std::map<std::string, std::string>;

/// Drops what was noted at or below the pointer.
void forget_origins(const std::string& pointer, Origins& origins);

/// Notes where the leaves of a value at `pointer` come from, in place of what was noted at or
/// below.
void note_origin(const nlohmann::ordered_json& value, const std::string& pointer,
                 const char* origin, Origins& origins);

}  // namespace gradwire::scenarios
