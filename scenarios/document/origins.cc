#include "scenarios/document/origins.h"

#include "scenarios/document/pointer.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

/// Notes where the leaves of a value come from.
void note_leaves(const ordered_json& value, const std::string& pointer, const char* origin,
                 Origins& origins) {
  if (!value.is_structured() || value.empty()) {
    origins[pointer] = origin;
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      note_leaves(value[i], child_pointer(pointer, i), origin, origins);
  } else {
    for (const auto& [key, member] : value.items())
      note_leaves(member, child_pointer(pointer, key), origin, origins);
  }
}

}  // namespace

void forget_origins(const std::string& pointer, Origins& origins) {
  constexpr char kAfterSlash = '/' + 1;
  origins.erase(pointer);
  origins.erase(origins.lower_bound(pointer + '/'), origins.lower_bound(pointer + kAfterSlash));
}

void note_origin(const ordered_json& value, const std::string& pointer, const char* origin,
                 Origins& origins) {
  forget_origins(pointer, origins);
  note_leaves(value, pointer, origin, origins);
}

}  // namespace gradwire::scenarios
