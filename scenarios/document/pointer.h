#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

/// JSON pointers (RFC 6901) as plain texts, the way messages, tables and `--set` write them.
namespace gradwire::scenarios {

/// One token as it stands in a pointer: "~" becomes "~0" and "/" becomes "~1".
std::string escape_token(std::string_view token);
std::string child_pointer(std::string_view parent, std::string_view token);
std::string child_pointer(std::string_view parent, std::size_t index);
/// "/a/b" -> "/a"; "/a" -> ""; "" -> "".
std::string parent_pointer(std::string_view pointer);
/// Unescaped tokens; empty for "" and for texts that do not start with "/".
std::vector<std::string> pointer_tokens(std::string_view pointer);
/// True if `pointer` is `ancestor` or lies below it.
bool is_at_or_below(std::string_view pointer, std::string_view ancestor);

/// The value at `pointer`, or null if there is none.
const nlohmann::ordered_json* find_at(const nlohmann::ordered_json& root, std::string_view pointer);
/// Sets the value at `pointer`, making objects on the way. False if a token names an array item
/// that is not there, or a value on the way is neither object nor array.
bool assign_at(nlohmann::ordered_json& root, std::string_view pointer,
               const nlohmann::ordered_json& value);
/// Takes the member at `pointer` out of its object; nothing where there is none.
void erase_at(nlohmann::ordered_json& root, std::string_view pointer);

}  // namespace gradwire::scenarios
