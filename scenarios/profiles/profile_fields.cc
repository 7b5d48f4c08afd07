#include "scenarios/fields/fields.h"

namespace gradwire::scenarios {
namespace {

using Rows = std::vector<Field>;

Field group(std::string pointer, Shape shape, std::string help, bool required = true) {
  Field field{.pointer = std::move(pointer), .shape = shape, .spec = {.help = std::move(help)}};
  field.required = required;
  return field;
}

/// A count or a rate.
Field number(std::string pointer, OptionType type, std::string help, double min, double max,
             const char* unit = "") {
  Field field{.pointer = std::move(pointer),
              .spec = {.type = type, .help = std::move(help), .min = min, .max = max},
              .unit = unit};
  return field;
}

Field required(Field field) {
  field.required = true;
  return field;
}

Field optional(Field field) {
  field.required = false;
  field.optional = true;
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

/// How far the truth may be from times of one kind.
void add_range(Rows& rows, const std::string& at, const char* of) {
  rows.push_back(optional(group(at, Shape::kObject, std::string("Of times of ") + of + ".")));
  rows.push_back(required(number(at + "/low", OptionType::kNumber,
                                 "The truth is so many times the profile's figure at least, in "
                                 "nine of ten cases.",
                                 1e-6, 1)));
  rows.push_back(
      required(number(at + "/high", OptionType::kNumber, "So many times at most.", 1, 1e6)));
}

void add_uncertainty(Rows& rows, bool codecs) {
  rows.push_back(optional(group("/uncertainty", Shape::kObject,
                                "How far the truth may be from the figures; left out: within a "
                                "factor of 2 (codecs: from half to 10 times) where the source is "
                                "assumed, else exact.")));
  rows.push_back({.pointer = "/uncertainty/note",
                  .spec = {.type = OptionType::kText, .help = "How that is known."}});
  add_range(rows, "/uncertainty/compute", "passes and updates");
  if (codecs) add_range(rows, "/uncertainty/codecs", "codecs");
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
                           .choices = {"measured", "published", "computed", "assumed"}},
                  .required = true});
  rows.push_back(
      {.pointer = "/note",
       .spec = {.type = OptionType::kText, .help = "Machine, paper, or how it was assumed."},
       .required = true});
}

void add_cost(Rows& rows, const std::string& base, std::string help) {
  rows.push_back(group(base, Shape::kObject, std::move(help)));
  rows.push_back(seconds(base + "/fixed_s", "Each call."));
  rows.push_back(seconds(base + "/per_element_s", "Each element."));
}

/// What gives times to layer tables that have none of their own.
void add_peak(Rows& rows) {
  using enum OptionType;
  rows.push_back(optional(group("/peak", Shape::kObject, "Peak figures, for layer tables.")));
  rows.push_back(group("/peak/compute", Shape::kMap, "By precision: fp32, tf32, fp16."));
  rows.push_back(group("/peak/compute/*", Shape::kObject, "One precision."));
  rows.push_back(required(number("/peak/compute/*/flops_per_s", kNumber,
                                 "Peak; a multiply-add is two.", 1, 1e21, "FLOP/s")));
  rows.push_back(
      required(number("/peak/compute/*/efficiency", kNumber,
                      "Share of it that convolutions and matrix products reach.", 1e-6, 2)));
  rows.push_back(
      required(number("/peak/memory_bytes_per_s", kNumber, "Memory bandwidth.", 1, 1e18, "B/s")));
  rows.push_back(seconds("/peak/launch_s", "The shortest time of a layer's pass.", "0"));
  rows.push_back(
      number("/peak/memory_bytes", kNumber, "Memory that it has; 0: not known.", 0, 1e18, "B"));
}

/// What kernels reach of the peak, and what a program adds.
void add_kernels(Rows& rows) {
  using enum OptionType;
  const std::string at = "/kernels";
  rows.push_back(optional(group(at, Shape::kObject,
                                "What kernels reach of the peak figures, for layer tables; left "
                                "out: one efficiency for all products.")));
  rows.push_back({.pointer = at + "/note", .spec = {.type = kText, .help = "How that is known."}});
  rows.push_back(
      required(number(at + "/multiprocessors", kInteger, "Streaming multiprocessors.", 1, 1e6)));
  rows.push_back(group(at + "/shares", Shape::kMap, "By precision, for each that has a peak."));
  rows.push_back(group(at + "/shares/*", Shape::kObject, "One precision."));
  rows.push_back(required(number(at + "/shares/*/matrix", kNumber,
                                 "Share of the peak that large matrix products reach.", 1e-6, 4)));
  rows.push_back(
      required(number(at + "/shares/*/convolution", kNumber,
                      "Share that large convolutions and products of attention reach.", 1e-6, 4)));
  const auto add = [&](const char* name, const char* help, double min, double max,
                       const char* unit = "") {
    rows.push_back(required(number(at + "/" + name, kNumber, help, min, max, unit)));
  };
  add("winograd", "Gain of 3 x 3 convolutions of stride 1 in fp32.", 1e-3, 1e3);
  add("memory", "Share of the memory's bandwidth that is reached.", 1e-6, 1);
  add("tile", "Tiles of 128 x 128 a multiprocessor at which half of a share is reached.", 0, 1e6);
  add("traffic", "What layers that memory bounds move, over what is counted.", 1e-3, 1e3);
  add("update", "The same of the optimiser.", 1e-3, 1e3);
  add("host_s", "The host's time to launch a kernel, beside the device.", 0, 1, "s");
  add("step_s", "Of each step: input, scalars, synchronisation.", 0, 1e3, "s");
  add("parallel_s", "Of each step of several workers, beside the exchange itself.", 0, 1e3, "s");
}

Rows device_rows() {
  Rows rows;
  add_head(rows, "A device profile: compute and codec times of one kind of machine.", "device");
  add_uncertainty(rows, true);
  rows.push_back(group("/models", Shape::kMap, "Times of each model."));
  rows.push_back(group("/models/*", Shape::kObject, "One model's passes."));
  rows.push_back(seconds("/models/*/forward_fixed_s", "Forward pass, whatever the batch.", "0"));
  rows.push_back(seconds("/models/*/forward_s_per_sample", "Forward pass, each sample."));
  rows.push_back(seconds("/models/*/backward_fixed_s", "Backward pass, whatever the batch.", "0"));
  rows.push_back(seconds("/models/*/backward_s_per_sample", "Backward pass, each sample."));
  rows.push_back(seconds("/models/*/update_s", "Optimiser, all parameters."));
  rows.push_back(group("/codecs", Shape::kMap, "Times of each codec."));
  rows.push_back(group("/codecs/*", Shape::kObject, "One codec's operations."));
  for (const std::string operation : {"encode", "decode", "aggregate"})
    add_cost(rows, "/codecs/*/" + operation, "Cost of " + operation + ".");
  rows.push_back(
      optional(group("/decorators", Shape::kObject, "What decorators add to encoding.")));
  add_cost(rows, "/decorators/error_feedback", "Error feedback.");
  add_cost(rows, "/decorators/momentum_correction", "Momentum correction.");
  add_peak(rows);
  add_kernels(rows);
  rows.push_back(optional(group("/host", Shape::kObject, "The machine that it is in.")));
  rows.push_back(required(number("/host/link_bytes_per_s", OptionType::kNumber,
                                 "Between device and host, each way.", 1, 1e18, "B/s")));
  rows.push_back(required(number("/host/memory_bytes_per_s", OptionType::kNumber,
                                 "The host's memory bandwidth.", 1, 1e18, "B/s")));
  return rows;
}

void add_layer_costs(Rows& rows) {
  using enum OptionType;
  const std::string at = "/layers/*/";
  rows.push_back(number(at + "flops_per_sample", kInteger, "Forward pass; a multiply-add is two.",
                        0, 9e15, "FLOP"));
  rows.push_back(number(at + "inputs_per_sample", kInteger, "Activations that it reads.", 0, 9e15,
                        "elements"));
  rows.push_back(number(at + "activations_per_sample", kInteger, "Activations that it writes.", 0,
                        9e15, "elements"));
  rows.push_back(optional(seconds(at + "forward_s_per_sample", "Forward pass, each sample.")));
  rows.push_back(optional(seconds(at + "backward_s_per_sample", "Backward pass, each sample.")));
  rows.push_back(number(at + "spread", kNumber,
                        "Relative interquartile range of the measured times.", 0, 1e6));
}

Rows workload_rows() {
  Rows rows;
  add_head(rows, "A workload profile: a table of layers that stands in for a model.", "workload");
  add_uncertainty(rows, false);
  rows.push_back(optional(seconds("/update_s", "Optimiser, all parameters.")));
  rows.push_back(group("/layers", Shape::kList, "Layers, in forward order."));
  rows.push_back(group("/layers/*", Shape::kObject, "One layer."));
  rows.push_back({.pointer = "/layers/*/name",
                  .spec = {.type = OptionType::kText, .help = "The layer's name."},
                  .required = true});
  rows.push_back(
      {.pointer = "/layers/*/kind",
       .spec = {.type = OptionType::kText, .help = "Convolution, linear, ...: for readers."}});
  rows.push_back(required(number("/layers/*/elements", OptionType::kInteger,
                                 "Trainable parameters; 0 = it only takes time.", 0, 1e12)));
  rows.push_back(group("/layers/*/tensors", Shape::kMap, "Shapes of its parameters.", false));
  rows.push_back(group("/layers/*/tensors/*", Shape::kList, "One tensor's shape."));
  rows.push_back(number("/layers/*/tensors/*/*", OptionType::kInteger, "An extent.", 1, 1e12));
  add_layer_costs(rows);
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
