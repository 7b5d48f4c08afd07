#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "scenarios/document/problems.h"

/// JSON text with positions: every value knows the line on which it stands, so that a message can
/// say file, line and pointer.
namespace gradwire::scenarios {

struct Document {
  std::string file;
  nlohmann::ordered_json root;
  std::map<std::string, int, std::less<>> lines;  ///< by JSON pointer, counted from 1

  /// Line of the value (of a member: of its key), or of the nearest value around it.
  int line_of(std::string_view pointer) const;
};

/// Reads JSON (RFC 8259, no comments, 64 levels at most). A syntax error and each duplicate key
/// become problems; after a syntax error `root` is what was read before it and must not be used.
Document parse_document(std::string_view text, const std::string& file, ProblemList& problems);

}  // namespace gradwire::scenarios
