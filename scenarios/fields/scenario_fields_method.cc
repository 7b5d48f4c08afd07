#include "compressors/codec_plan.h"
#include "scenarios/fields/scenario_rows.h"
#include "scenarios/methods.h"
#include "trainers/methods/by_settings.h"
#include "trainers/methods/catalogue.h"

namespace gradwire::scenarios {
namespace {

using compressors::codec_catalogue;
using compressors::CodecInfo;

constexpr const char* kCompressed = "compressed";

Field in_method(Field field) {
  field.kinds = kSteps;
  return field;
}

Field only_compressed(Field field) {
  field.when = Condition{"/method/name", {kCompressed}};
  return in_method(std::move(field));
}

/// The choice of a codec; the others of the catalogue are refused with the reason.
Field codec_name(const std::string& pointer, std::string help) {
  Field name{.pointer = pointer,
             .spec = {.type = OptionType::kChoice, .help = std::move(help)},
             .kinds = kSteps};
  for (const CodecInfo& codec : codec_catalogue()) {
    const std::string reason = why_no_gradient_codec(codec);
    if (reason.empty())
      name.spec.choices.push_back(codec.name);
    else
      name.refused_choices.emplace_back(codec.name, reason);
  }
  return name;
}

void warn_of_large_ratio(Field& row) {
  if (row.spec.name != "ratio") return;
  row.suspicious_above = 0.5;
  row.suspicious_why = "values and their indices then take more bytes than the dense tensor";
}

/// The options of every gradient codec below `at`, each where `name_at` names its codec.
void add_codec_options(Rows& rows, const std::string& at, const std::string& name_at) {
  for (const CodecInfo& codec : codec_catalogue()) {
    if (!why_no_gradient_codec(codec).empty()) continue;
    if (at == "/method" && methods::find_method(codec.name)) continue;  // has options of its own
    for (const OptionSpec& option : codec.options) {
      Field row{.pointer = at + "/" + option.name,
                .spec = option,
                .kinds = kSteps,
                .when = Condition{name_at, {codec.name}}};
      row.required = option.default_text.empty() && option.type != OptionType::kText;
      row.repeated = at != "/method";
      warn_of_large_ratio(row);
      rows.push_back(row);
    }
  }
}

/// The options of the catalogue's methods.
void add_method_options(Rows& rows) {
  for (const methods::MethodRow& method : methods::method_catalogue()) {
    for (const OptionSpec& option : method.options) {
      Field row{.pointer = "/method/" + option.name,
                .spec = option,
                .kinds = kSteps,
                .when = Condition{"/method/name", {method.name}}};
      if (method.takes_momentum && option.name == "momentum") {
        row.spec.default_text.clear();
        row.computed_default =
            "the optimiser's, which tensors without correction have too; 0.9 "
            "where a table of layers is replayed";
      }
      rows.push_back(row);
    }
  }
}

/// An object {name, options} that chooses a codec.
void add_codec_choice(Rows& rows, const std::string& at, std::string help, Field object) {
  object.pointer = at;
  object.shape = Shape::kObject;
  object.spec.help = std::move(help);
  object.required = true;
  rows.push_back(object);
  rows.push_back(codec_name(at + "/name", "Codec; its options stand beside the name, as above."));
  rows.back().required = true;
  add_codec_options(rows, at, at + "/name");
}

void add_momentum(Rows& rows) {
  rows.push_back(only_compressed(object_row(
      "/method/momentum_correction",
      "DGC: each worker applies the momentum, before it chooses what to send; the optimiser then "
      "applies none. What was not sent is kept, as by error feedback (arXiv 1712.01887).")));
  rows.back().optional = true;
  rows.push_back({.pointer = "/method/momentum_correction/momentum",
                  .spec = {.type = OptionType::kNumber,
                           .help = "Momentum m of u = m u + g.",
                           .min = 0,
                           .max = 1,
                           .max_exclusive = true},
                  .kinds = kSteps,
                  .computed_default = "the optimiser's, or 0.9 if that has none"});
  rows.push_back({.pointer = "/method/momentum_correction/nesterov",
                  .spec = {.type = OptionType::kBoolean,
                           .default_text = "false",
                           .help = "u = m (u + g), of which u + g is sent."},
                  .kinds = kSteps});
  rows.push_back(
      {.pointer = "/method/momentum_correction/masking",
       .spec = {.type = OptionType::kBoolean,
                .default_text = "true",
                .help = "Forget the momentum of an element that was sent; sparse codecs alone."},
       .kinds = kSteps});
  rows.push_back(
      {.pointer = "/method/momentum_correction/clip",
       .spec = {.type = OptionType::kNumber,
                .default_text = "0",
                .help =
                    "Before the momentum, each worker scales a tensor down to the 2-norm clip / "
                    "sqrt(workers), so that the sum of all workers keeps to about `clip` "
                    "(arXiv 1712.01887, 3.2); 0 = off.",
                .min = 0,
                .max = 1e30},
       .kinds = kSteps});
}

void add_clipping(Rows& rows) {
  rows.push_back(only_compressed(
      object_row("/method/clip", "Clip each tensor's gradient before anything else.")));
  rows.back().optional = true;
  rows.push_back(in_method(
      {.pointer = "/method/clip/by",
       .spec = {.type = OptionType::kChoice,
                .default_text = "norm",
                .help = "norm: scale the tensor so that its 2-norm is at most `threshold`; value: "
                        "each element into +-threshold; sigma: into +-threshold standard "
                        "deviations of the tensor.",
                .choices = {"norm", "value", "sigma"}}}));
  rows.push_back(in_method({.pointer = "/method/clip/threshold",
                            .spec = {.type = OptionType::kNumber,
                                     .help = "Where clipping begins, each worker for itself.",
                                     .min = 0,
                                     .max = 1e30,
                                     .min_exclusive = true},
                            .required = true}));
}

Field count_row(std::string name, std::string help) {
  return in_method(
      {.pointer = "/method/rules/*/" + std::move(name),
       .spec = {.type = OptionType::kInteger, .help = std::move(help), .min = 0, .max = 1e12}});
}

void add_rules(Rows& rows) {
  rows.push_back(only_compressed(list_row(
      "/method/rules",
      "Tensors that take another codec: the first rule whose conditions a tensor meets decides. "
      "Momentum, clipping and error feedback stay (none needs no feedback).")));
  rows.push_back(in_method(object_row("/method/rules/*", "One rule.")));
  rows.push_back(in_method({.pointer = "/method/rules/*/tensors",
                            .spec = {.type = OptionType::kText,
                                     .default_text = "*",
                                     .help = "Pattern of the tensor's name: * any characters, ? "
                                             "one."}}));
  rows.push_back(count_row("elements_from", "At least so many elements."));
  rows.push_back(count_row("elements_below", "Fewer elements."));
  rows.push_back(count_row("dimensions_from", "At least so many dimensions."));
  rows.push_back(count_row("dimensions_below", "Fewer dimensions; a bias has 1."));
  add_codec_choice(rows, "/method/rules/*/codec", "What such a tensor takes.", in_method({}));
}

}  // namespace

void add_method(Rows& rows) {
  rows.push_back(object_row("/method", "How gradients are compressed.", kSteps));
  Field name = codec_name("/method/name",
                          "Codec, whose options stand beside the name, or a published method "
                          "(`gradwire methods`); or compressed: a codec with decorators, each an "
                          "object.");
  name.spec.default_text = "none";
  name.spec.choices.push_back(kCompressed);
  for (const methods::MethodRow& method : methods::method_catalogue()) {
    if (!compressors::find_codec(method.name)) name.spec.choices.push_back(method.name);
  }
  for (const methods::MethodRow& method : methods::methods_by_settings())
    name.refused_choices.emplace_back(method.name, "is set elsewhere: " + method.summary);
  rows.push_back(name);
  rows.push_back({.pointer = "/method/error_feedback",
                  .spec = {.type = OptionType::kBoolean,
                           .help = "Keep what was not sent and add it to the next gradient; any "
                                   "codec but none."},
                  .kinds = kSteps,
                  .computed_default = "true for sparse codecs that are biased, such as topk, and "
                                      "with momentum_correction; else false"});
  add_codec_options(rows, "/method", "/method/name");
  add_method_options(rows);
  add_codec_choice(rows, "/method/codec", "The codec of `compressed`.", only_compressed({}));
  add_momentum(rows);
  add_clipping(rows);
  add_rules(rows);
}

}  // namespace gradwire::scenarios
