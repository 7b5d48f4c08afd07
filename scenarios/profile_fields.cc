#include "scenarios/fields.h"

namespace gradwire::scenarios {
namespace {

using Rows = std::vector<Field>;

Field group(std::string pointer, Shape shape, std::string help, bool required = true) {
  Field field{.pointer = std::move(pointer), .shape = shape, .spec = {.help = std::move(help)}};
  field.required = required;
  return field;
}

Field seconds(std::string pointer, std::string help, const char* default_text = "") {
  Field field{.pointer = std::move(pointer),
              .spec = {.type = OptionType::kNumber,
                       .default_text = default_text,
                       .help = std::move(help),
                       .min = 0,
                       .max = 1e6},
              .unit = "s"};
  field.required = field.spec.default_text.empty();
  return field;
}

void add_head(Rows& rows, const char* what, const char* kind) {
  rows.push_back(group("", Shape::kObject, what));
  rows.push_back({.pointer = "/schema_version",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Version of this format.",
                           .min = 1,
                           .max = kSchemaVersion},
                  .required = true});
  rows.push_back(
      {.pointer = "/kind",
       .spec = {.type = OptionType::kChoice, .help = "What is profiled.", .choices = {kind}},
       .required = true});
  rows.push_back({.pointer = "/name",
                  .spec = {.type = OptionType::kText, .help = "The profile's name."},
                  .required = true,
                  .identifier = true});
  rows.push_back({.pointer = "/source",
                  .spec = {.type = OptionType::kChoice,
                           .help = "Where the figures come from.",
                           .choices = {"measured", "published", "assumed"}},
                  .required = true});
  rows.push_back(
      {.pointer = "/note",
       .spec = {.type = OptionType::kText, .help = "Machine, paper, or how it was assumed."},
       .required = true});
}

Rows device_rows() {
  Rows rows;
  add_head(rows, "A device profile: compute and codec times of one kind of machine.", "device");
  rows.push_back(group("/models", Shape::kMap, "Times of each model."));
  rows.push_back(group("/models/*", Shape::kObject, "One model's passes."));
  rows.push_back(seconds("/models/*/forward_fixed_s", "Forward pass, whatever the batch.", "0"));
  rows.push_back(seconds("/models/*/forward_s_per_sample", "Forward pass, each sample."));
  rows.push_back(seconds("/models/*/backward_fixed_s", "Backward pass, whatever the batch.", "0"));
  rows.push_back(seconds("/models/*/backward_s_per_sample", "Backward pass, each sample."));
  rows.push_back(seconds("/models/*/update_s", "Optimiser, all parameters."));
  rows.push_back(group("/codecs", Shape::kMap, "Times of each codec."));
  rows.push_back(group("/codecs/*", Shape::kObject, "One codec's operations."));
  for (const std::string operation : {"encode", "decode", "aggregate"}) {
    const std::string base = "/codecs/*/" + operation;
    rows.push_back(group(base, Shape::kObject, "Cost of " + operation + "."));
    rows.push_back(seconds(base + "/fixed_s", "Each call."));
    rows.push_back(seconds(base + "/per_element_s", "Each element."));
  }
  return rows;
}

Rows workload_rows() {
  Rows rows;
  add_head(rows, "A workload profile: a table of layers that stands in for a model.", "workload");
  rows.push_back(seconds("/update_s", "Optimiser, all parameters.", "0"));
  rows.push_back(group("/layers", Shape::kList, "Layers, in forward order."));
  rows.push_back(group("/layers/*", Shape::kObject, "One layer."));
  rows.push_back({.pointer = "/layers/*/name",
                  .spec = {.type = OptionType::kText, .help = "The layer's name."},
                  .required = true});
  rows.push_back({.pointer = "/layers/*/elements",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Trainable parameters.",
                           .min = 1,
                           .max = 1e12},
                  .required = true});
  rows.push_back(seconds("/layers/*/forward_s_per_sample", "Forward pass, each sample."));
  rows.push_back(seconds("/layers/*/backward_s_per_sample", "Backward pass, each sample."));
  return rows;
}

}  // namespace

const FieldTable& device_profile_table() {
  static const FieldTable table(device_rows());
  return table;
}

const FieldTable& workload_profile_table() {
  static const FieldTable table(workload_rows());
  return table;
}

}  // namespace gradwire::scenarios
