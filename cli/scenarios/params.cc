#include "cli/scenarios/params.h"

#include <nlohmann/json.hpp>

#include "cli/output/table.h"
#include "scenarios/document/values.h"
#include "scenarios/fields/fields.h"

namespace gradwire::cli {
namespace {

std::string default_text(const scenarios::Field& field) {
  if (field.required) return "(required)";
  if (!field.computed_default.empty()) return field.computed_default;
  return field.spec.default_text;
}

/// For people: what a value may be, and is where nobody says so, in one cell.
std::string value_text(const scenarios::Field& field) {
  const std::string usual = default_text(field);
  std::string text = scenarios::allowed_of(field) + (field.unit.empty() ? "" : " " + field.unit);
  if (field.required) return text + " " + usual;
  return usual.empty() ? text : text + " (default " + usual + ")";
}

std::string help_text(const scenarios::Field& field) {
  if (field.kinds == scenarios::kAllKinds) return field.spec.help;
  return field.spec.help + " Workloads: " + scenarios::kinds_text(field.kinds) + ".";
}

/// Lists the fields whose pointer contains `part`.
void list_fields(const std::string& part, const Context& context) {
  const bool text = context.format() == Format::kText;
  Table table(
      text ? std::vector<Column>{{"field"}, {"value"}, {"help"}}
           : std::vector<Column>{
                 {"name"}, {"type"}, {"default"}, {"allowed"}, {"unit"}, {"workloads"}, {"help"}});
  for (const scenarios::Field& field : scenarios::scenario_table().fields()) {
    if (field.pointer.find(part) == std::string::npos || field.shape != scenarios::Shape::kValue)
      continue;
    if (text)
      table.add({field.pointer, value_text(field), help_text(field)});
    else
      table.add({field.pointer, std::string(name_of(field.spec.type)), default_text(field),
                 scenarios::allowed_of(field), field.unit, scenarios::kinds_text(field.kinds),
                 field.spec.help});
  }
  if (table.size() == 0)
    throw Error(ErrorKind::kUsage, "list fields", "\"" + part + "\"",
                "no field's pointer contains it", "gradwire params lists all");
  table.print(context);
}

}  // namespace

void print_config(const scenarios::ScenarioFile& file, const Context& context) {
  Table table({{"name", "field"},
               {.name = "value", .importance = Importance::kKey},
               {.name = "unit", .importance = Importance::kLow},
               {.name = "origin", .importance = Importance::kKey}});
  for (const scenarios::ResolvedValue& value : scenarios::resolved_values(file.runs.front()))
    table.add({value.pointer, value.value, value.unit, value.origin});
  table.print(context);
}

void add_params(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("params", "List the fields of scenario files: type, range, default");
  auto part = std::make_shared<std::string>();
  command->add_option("PART", *part, "Only fields whose JSON pointer contains this");
  command->footer("Example:\n  gradwire params /network/link");
  command->callback([part, &context] { list_fields(*part, context); });
}

}  // namespace gradwire::cli
