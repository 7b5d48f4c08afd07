#include "scenarios/document/reader.h"

#include <algorithm>

#include "base/joined_texts.h"
#include "scenarios/document/pointer.h"
#include "scenarios/document/values.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;
using Node = FieldTable::Node;

class Reader {
 public:
  Reader(const FieldTable& table, const ordered_json& root, KindMask kinds, const Places& places,
         ProblemList& problems)
      : table_(table), root_(root), kinds_(kinds), places_(places), problems_(problems) {}

  ReadResult read() {
    result_.value = read_object(table_.root(), root_, "");
    return std::move(result_);
  }

 private:
  void refuse(const std::string& pointer, std::string message, std::string allowed = "",
              std::string suggestion = "") {
    result_.bad.insert(pointer);
    problems_.add(
        places_.problem(pointer, std::move(message), std::move(allowed), std::move(suggestion)));
  }

  /// The choice that a condition looks at: given, or the default; empty if it is itself wrong.
  std::string choice_at(const std::string& pointer) const {
    const Field& field = table_.find(pointer)->field();
    const ordered_json* given = find_at(root_, pointer);
    if (!given) return field.spec.default_text;
    return check_value(field, *given).problem.empty() ? given->get<std::string>() : "";
  }

  /// `pattern` with each "*" replaced by what stands there in `pointer`.
  static std::string concrete(const std::string& pattern, const std::string& pointer) {
    const std::vector<std::string> tokens = pointer_tokens(pattern), own = pointer_tokens(pointer);
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      text = child_pointer(text, tokens[i] == "*" && i < own.size() ? own[i] : tokens[i]);
    return text;
  }

  bool holds(const std::optional<Condition>& when, const std::string& pointer) const {
    if (!when) return true;
    const std::string choice = choice_at(concrete(when->pointer, pointer));
    return choice.empty() ||
           std::find(when->values.begin(), when->values.end(), choice) != when->values.end();
  }

  /// False where the choice that a condition looks at is itself wrong: nothing can be missed then.
  bool is_decided(const std::optional<Condition>& when, const std::string& pointer) const {
    return !when || !choice_at(concrete(when->pointer, pointer)).empty();
  }

  /// The row of a place that applies at `pointer`, or null.
  const Field* applicable(const Node& node, const std::string& pointer) const {
    for (const Field* field : node.fields)
      if ((field->kinds & kinds_) != 0 && holds(field->when, pointer)) return field;
    return nullptr;
  }

  void refuse_inapplicable(const Node& node, const std::string& pointer) {
    const Field* of_kind = nullptr;
    KindMask kinds = 0;
    std::string values;
    for (const Field* each : node.fields) {
      kinds |= each->kinds;
      if ((each->kinds & kinds_) == 0) continue;
      of_kind = each;
      values += (values.empty() ? "" : " or ") + each->when->values_text();
    }
    if (!of_kind) {
      refuse(pointer, "does not go with a workload of kind " + kinds_text(kinds_),
             "only with " + kinds_text(kinds));
      return;
    }
    const std::string at = concrete(of_kind->when->pointer, pointer);
    refuse(pointer, "does not go with " + at + " = " + choice_at(at), "only with " + values);
  }

  void refuse_unknown(const Node& node, const std::string& pointer, const std::string& key) {
    std::vector<std::string> names;
    for (const auto& child : node.children)
      if (applicable(*child, child_pointer(pointer, child->key))) names.push_back(child->key);
    refuse(child_pointer(pointer, key), "there is no such key", joined_texts(names, ", "),
           nearest_name(key, names));
  }

  ordered_json read_object(const Node& node, const ordered_json& given,
                           const std::string& pointer) {
    ordered_json object = ordered_json::object();
    if (!given.is_object()) {
      refuse(pointer, "an object is needed");
      return object;
    }
    for (const auto& [key, value] : given.items())
      if (!node.child(key)) refuse_unknown(node, pointer, key);
    for (const auto& child : node.children) read_member(*child, given, pointer, object);
    return object;
  }

  void read_member(const Node& node, const ordered_json& parent, const std::string& parent_at,
                   ordered_json& object) {
    const std::string pointer = child_pointer(parent_at, node.key);
    const auto given = parent.find(node.key);
    const Field* field = applicable(node, pointer);
    if (given != parent.end()) {
      if (!field)
        refuse_inapplicable(node, pointer);
      else if (ordered_json value = read_shape(node, *field, *given, pointer); !value.is_null())
        object[node.key] = std::move(value);
      return;
    }
    if (field && field->required) {
      if (is_decided(field->when, pointer)) refuse(pointer, "is missing", allowed_of(*field));
    } else if (field && field->shape == Shape::kObject && !field->optional) {
      object[node.key] = read_object(node, ordered_json::object(), pointer);
    } else if (field && field->shape == Shape::kValue) {
      if (ordered_json value = default_value(*field); !value.is_null()) object[node.key] = value;
    }
  }

  ordered_json read_shape(const Node& node, const Field& field, const ordered_json& given,
                          const std::string& pointer) {
    switch (field.shape) {
      case Shape::kValue:
        return read_value(field, given, pointer);
      case Shape::kObject:
        return read_object(node, given, pointer);
      case Shape::kList:
        return read_list(node, given, pointer);
      case Shape::kMap:
        return read_map(node, given, pointer);
      case Shape::kSweep:
        return nullptr;  // sweep.h reads it before any run is made
    }
    return nullptr;
  }

  ordered_json read_value(const Field& field, const ordered_json& given,
                          const std::string& pointer) {
    CheckedValue checked = check_value(field, given);
    if (!checked.problem.empty()) {
      refuse(pointer, checked.problem, allowed_of(field), checked.suggestion);
      return nullptr;
    }
    if (is_numeric(field) &&
        (checked.base < field.suspicious_below || checked.base > field.suspicious_above))
      result_.suspicious.push_back(places_.problem(
          pointer, "suspicious value " + given.dump() + ": " + field.suspicious_why));
    return checked.value;
  }

  ordered_json read_list(const Node& node, const ordered_json& given, const std::string& pointer) {
    if (!given.is_array()) {
      refuse(pointer, "a list is needed");
      return nullptr;
    }
    const Node& item = *node.children.front();
    ordered_json list = ordered_json::array();
    for (std::size_t i = 0; i < given.size(); ++i)
      list.push_back(read_shape(item, item.field(), given[i], child_pointer(pointer, i)));
    if (node.field().required && given.empty()) refuse(pointer, "the list is empty");
    return list;
  }

  ordered_json read_map(const Node& node, const ordered_json& given, const std::string& pointer) {
    if (!given.is_object()) {
      refuse(pointer, "an object is needed");
      return nullptr;
    }
    const Node& item = *node.children.front();
    ordered_json map = ordered_json::object();
    for (const auto& [key, value] : given.items())
      map[key] = read_shape(item, item.field(), value, child_pointer(pointer, key));
    return map;
  }

  const FieldTable& table_;
  const ordered_json& root_;
  KindMask kinds_;
  const Places& places_;
  ProblemList& problems_;
  ReadResult result_;
};

}  // namespace

Problem Places::problem(std::string_view pointer, std::string message, std::string allowed,
                        std::string suggestion) const {
  Problem problem{
      "", 0, std::string(pointer), std::move(message), std::move(allowed), std::move(suggestion)};
  // Longer pointers come later: the nearest override is named.
  for (const auto& [given, origin] : overridden_)
    if (is_at_or_below(pointer, given)) problem.file = origin;
  if (!problem.file.empty()) return problem;
  for (const auto& [swept, source] : moved_)
    if (is_at_or_below(pointer, swept))
      problem.pointer = source + std::string(pointer.substr(swept.size()));
  problem.file = document_.file;
  problem.line = document_.line_of(problem.pointer);
  return problem;
}

bool ReadResult::sound(std::initializer_list<std::string_view> pointers) const {
  return std::none_of(bad.begin(), bad.end(), [&](const std::string& refused) {
    return std::any_of(pointers.begin(), pointers.end(), [&](std::string_view pointer) {
      return is_at_or_below(refused, pointer) || is_at_or_below(pointer, refused);
    });
  });
}

ReadResult read_by_table(const FieldTable& table, const ordered_json& root, KindMask kinds,
                         const Places& places, ProblemList& problems) {
  return Reader(table, root, kinds, places, problems).read();
}

}  // namespace gradwire::scenarios
