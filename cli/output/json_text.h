#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace gradwire::cli {

/// What a program reads of it. Bytes that are no UTF-8 (a file's name may be any) become U+FFFD:
/// the rest of the answer stays.
inline std::string json_text(const nlohmann::ordered_json& json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace gradwire::cli
