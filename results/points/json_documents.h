#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

/// JSON among a log's lines: one document or several, whole or an event a line.
namespace gradwire::results {

struct JsonDocument {
  int line = 0;  ///< where it begins
  nlohmann::json value;
};

struct JsonDocuments {
  std::vector<JsonDocument> documents;
  std::vector<std::string> unread;  ///< what stands between them, in words; lines together
};

/// Whether an object begins a line, or an event stands in one.
bool has_json_documents(std::string_view text);

/// Throws Error: a document that is damaged or cut off.
JsonDocuments read_json_documents(std::string_view text, const std::string& file);

}  // namespace gradwire::results
