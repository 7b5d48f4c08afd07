#include <cmath>

#include "scenarios/document/values.h"
#include "scenarios/fields/fields.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;
using Node = FieldTable::Node;

/// Texts that base/units.h reads. A sign is left out: no field takes negative quantities.
std::string unit_pattern(OptionType type) {
  const std::string number = "^[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)? *";
  if (type == OptionType::kBytes) return number + "(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$";
  if (type == OptionType::kRate) return number + "(bps|kbps|Mbps|Gbps|Tbps|Bps|kBps|MBps|GBps)$";
  return number + "(ns|us|ms|s|min|h)$";
}

ordered_json bound(double value) {
  if (value == std::floor(value) && std::abs(value) <= 9007199254740991.0)
    return static_cast<std::int64_t>(value);
  return value;
}

void add_bounds(const OptionSpec& spec, ordered_json& schema) {
  if (std::isfinite(spec.min))
    schema[spec.min_exclusive ? "exclusiveMinimum" : "minimum"] = bound(spec.min);
  if (std::isfinite(spec.max))
    schema[spec.max_exclusive ? "exclusiveMaximum" : "maximum"] = bound(spec.max);
}

ordered_json value_schema(const Field& field) {
  ordered_json schema;
  switch (field.spec.type) {
    case OptionType::kBoolean:
      schema["type"] = "boolean";
      break;
    case OptionType::kInteger:
      schema["type"] = "integer";
      break;
    case OptionType::kNumber:
      schema["type"] = "number";
      break;
    case OptionType::kText:
      schema["type"] = "string";
      break;
    case OptionType::kChoice:
      schema["enum"] = field.spec.choices;
      break;
    default:
      schema["type"] = "string";
      schema["pattern"] = unit_pattern(field.spec.type);
  }
  if (field.spec.type == OptionType::kInteger || field.spec.type == OptionType::kNumber)
    add_bounds(field.spec, schema);
  if (field.identifier) schema["pattern"] = "^[A-Za-z0-9._-]+$";
  if (const ordered_json value = default_value(field); !value.is_null()) schema["default"] = value;
  return schema;
}

std::string describe(const Field& field) {
  std::string text = field.spec.help;
  if (!field.unit.empty()) text += " Unit: " + field.unit + ".";
  if (field.kinds != kAllKinds) text += " Workloads: " + kinds_text(field.kinds) + ".";
  if (field.when)
    text += " Only where " + field.when->pointer + " is " + field.when->values_text() + ".";
  return text;
}

ordered_json node_schema(const Node& node);

ordered_json closed_object(const Node& node) {
  ordered_json schema = {{"type", "object"}};
  ordered_json required = ordered_json::array();
  schema["properties"] = ordered_json::object();
  for (const auto& child : node.children) {
    schema["properties"][child->key] = node_schema(*child);
    // What only some workloads or topologies need cannot be required of all of them.
    const Field& field = child->field();
    if (field.required && field.kinds == kAllKinds && !field.when && child->fields.size() == 1)
      required.push_back(child->key);
  }
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return schema;
}

/// Each kind's own key excludes the fields that only other kinds have.
void exclude_other_kinds(const Node& workload, ordered_json& schema) {
  for (unsigned kind = 0; kind < kWorkloadKeys.size(); ++kind) {
    ordered_json excluded = ordered_json::object();
    for (const auto& child : workload.children)
      if ((child->field().kinds & (1u << kind)) == 0) excluded[child->key] = false;
    schema["dependentSchemas"][kWorkloadKeys[kind]] = {{"properties", excluded}};
  }
}

ordered_json sweep_schema() {
  ordered_json schema = {{"type", "object"}, {"properties", ordered_json::object()}};
  for (const Field& field : scenario_table().fields()) {
    if (!field.sweepable || field.pointer.empty()) continue;
    std::string pattern;
    for (const char c : field.pointer)
      pattern += c == '*' ? std::string("[0-9]+") : std::string(1, c);
    const bool listed = field.pointer.find('*') != std::string::npos;
    schema[listed ? "patternProperties" : "properties"][listed ? "^" + pattern + "$" : pattern] = {
        {"$ref", is_numeric(field) ? "#/$defs/numeric_axis" : "#/$defs/axis"}};
  }
  schema["properties"]["zip"] = {
      {"description", "true: all axes step together; a list of swept pointers: those do."},
      {"anyOf", {{{"type", "boolean"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};
  schema["properties"]["exclude"] = {
      {"description", "Combinations that do not run: objects of JSON pointers and values."},
      {"type", "array"},
      {"items",
       {{"type", "object"}, {"minProperties", 1}, {"propertyNames", {{"pattern", "^/"}}}}}};
  schema["additionalProperties"] = false;
  return schema;
}

ordered_json seeds_schema(const Node& node) {
  const ordered_json count = {{"type", "integer"}, {"minimum", 1}, {"maximum", 100000}};
  const ordered_json list = {
      {"type", "array"}, {"items", value_schema(node.children.front()->field())}, {"minItems", 1}};
  const ordered_json counted = {{"type", "object"},
                                {"properties", {{"count", count}}},
                                {"required", {"count"}},
                                {"additionalProperties", false}};
  return {{"anyOf", ordered_json::array({list, counted})}};
}

/// Options of the same name in several codecs: any of them.
ordered_json shared_schema(const Node& node) {
  ordered_json any = ordered_json::array();
  for (const Field* field : node.fields) {
    ordered_json each = field->shape == Shape::kObject ? closed_object(node) : value_schema(*field);
    each["description"] = describe(*field);
    any.push_back(each);
  }
  return {{"anyOf", any}};
}

ordered_json shape_schema(const Node& node) {
  switch (node.field().shape) {
    case Shape::kValue:
      return value_schema(node.field());
    case Shape::kObject:
      return closed_object(node);
    case Shape::kSweep:
      return sweep_schema();
    case Shape::kMap:
      return {{"type", "object"}, {"additionalProperties", node_schema(*node.children.front())}};
    case Shape::kList:
      break;
  }
  if (node.pointer == "/seeds") return seeds_schema(node);
  ordered_json list = {{"type", "array"}, {"items", node_schema(*node.children.front())}};
  if (node.field().required) list["minItems"] = 1;
  return list;
}

ordered_json node_schema(const Node& node) {
  if (node.fields.size() > 1) return shared_schema(node);
  ordered_json schema = {{"description", describe(node.field())}};
  schema.update(shape_schema(node));
  if (node.pointer == "/workload") exclude_other_kinds(node, schema);
  return schema;
}

ordered_json range_form(const char* name, const char* description, const ordered_json& last) {
  const ordered_json value = {{"type", {"number", "string"}}};
  return {{"type", "object"},
          {"description", description},
          {"properties",
           {{name,
             {{"type", "array"},
              {"prefixItems", {value, value, last}},
              {"minItems", 3},
              {"maxItems", 3}}}}},
          {"required", {name}},
          {"additionalProperties", false}};
}

ordered_json definitions() {
  const ordered_json value = {{"type", {"number", "string"}}};
  const ordered_json list = {{"type", "array"}, {"minItems", 1}};
  const ordered_json range = range_form("range", "[from, to, step], both ends included", value);
  const ordered_json log_range =
      range_form("log_range", "[from, to, count], evenly spaced in the logarithm",
                 {{"type", "integer"}, {"minimum", 2}, {"maximum", 10000}});
  return {{"axis", list},
          {"numeric_axis", {{"anyOf", ordered_json::array({list, range, log_range})}}}};
}

}  // namespace

ordered_json scenario_schema() {
  ordered_json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                         {"title", "Gradwire scenario"}};
  schema.update(node_schema(scenario_table().root()));
  schema["$defs"] = definitions();
  return schema;
}

}  // namespace gradwire::scenarios
