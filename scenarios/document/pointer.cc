#include "scenarios/document/pointer.h"

#include <charconv>

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

std::string unescape_token(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escaped = token[i] == '~' && i + 1 < token.size();
    if (escaped && token[i + 1] == '1')
      text += '/', ++i;
    else if (escaped && token[i + 1] == '0')
      text += '~', ++i;
    else
      text += token[i];
  }
  return text;
}

/// The item of `list` that `token` names, or `list.size()` if none.
std::size_t item_index(const ordered_json& list, std::string_view token) {
  std::size_t index = 0;
  const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), index);
  const bool whole = status == std::errc{} && end == token.data() + token.size();
  return whole && index < list.size() ? index : list.size();
}

}  // namespace

std::string escape_token(std::string_view token) {
  std::string text;
  for (const char c : token) {
    if (c == '~')
      text += "~0";
    else if (c == '/')
      text += "~1";
    else
      text += c;
  }
  return text;
}

std::string child_pointer(std::string_view parent, std::string_view token) {
  return std::string(parent) + "/" + escape_token(token);
}

std::string child_pointer(std::string_view parent, std::size_t index) {
  return std::string(parent) + "/" + std::to_string(index);
}

std::string parent_pointer(std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(pointer.substr(0, slash));
}

std::vector<std::string> pointer_tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  while (!pointer.empty() && pointer.front() == '/') {
    pointer.remove_prefix(1);
    const std::size_t slash = pointer.find('/');
    tokens.push_back(unescape_token(pointer.substr(0, slash)));
    pointer = slash == std::string_view::npos ? std::string_view() : pointer.substr(slash);
  }
  return tokens;
}

bool is_at_or_below(std::string_view pointer, std::string_view ancestor) {
  return pointer.starts_with(ancestor) &&
         (pointer.size() == ancestor.size() || pointer[ancestor.size()] == '/');
}

const ordered_json* find_at(const ordered_json& root, std::string_view pointer) {
  const ordered_json* at = &root;
  for (const std::string& token : pointer_tokens(pointer)) {
    if (at->is_object() && at->contains(token)) {
      at = &(*at)[token];
    } else if (at->is_array() && item_index(*at, token) < at->size()) {
      at = &(*at)[item_index(*at, token)];
    } else {
      return nullptr;
    }
  }
  return at;
}

bool assign_at(ordered_json& root, std::string_view pointer, const ordered_json& value) {
  ordered_json* at = &root;
  for (const std::string& token : pointer_tokens(pointer)) {
    const bool is_number = token.find_first_not_of("0123456789") == std::string::npos;
    if (at->is_null() && !is_number) *at = ordered_json::object();
    if (at->is_object()) {
      at = &(*at)[token];
    } else if (at->is_array() && item_index(*at, token) < at->size()) {
      at = &(*at)[item_index(*at, token)];
    } else {
      return false;
    }
  }
  *at = value;
  return true;
}

void erase_at(ordered_json& root, std::string_view pointer) {
  const std::vector<std::string> tokens = pointer_tokens(pointer);
  if (tokens.empty()) return;
  ordered_json* at = &root;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!at->is_object() || !at->contains(tokens[i])) return;
    at = &(*at)[tokens[i]];
  }
  if (at->is_object()) at->erase(tokens.back());
}

}  // namespace gradwire::scenarios
