#include "trainers/updates/catalogue.h"

#include "base/joined_texts.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {

const std::vector<UpdateInfo>& update_catalogue() {
  static const std::vector<UpdateInfo> rows = {
      sgd_row(),  adam_row(),        amsgrad_row(),     adamax_row(),       lars_row(),
      lamb_row(), adagrad_cmd_row(), adagrad_rda_row(), quasi_global_row(), shift_adamax_row()};
  return rows;
}

const UpdateInfo* find_update(std::string_view name) {
  for (const UpdateInfo& row : update_catalogue())
    if (row.name == name) return &row;
  return nullptr;
}

std::unique_ptr<UpdateRule> make_update_rule(const UpdateSettings& settings) {
  const UpdateInfo* const row = find_update(settings.name);
  if (!row)
    throw TrainerError(
        "make optimizer", settings.name, "there is no such optimizer",
        "choose one of " + joined_texts(update_catalogue(), ", ", &UpdateInfo::name));
  return row->make(OptionValues(row->options, settings.options));
}

OptionSpec momentum_option(const char* default_text) {
  return {.name = "momentum",
          .type = OptionType::kNumber,
          .default_text = default_text,
          .help = "Momentum: the share of the velocity that stays from step to step.",
          .min = 0,
          .max = 1,
          .max_exclusive = true};
}

OptionSpec l2_option() {
  return {.name = "weight_decay",
          .type = OptionType::kNumber,
          .default_text = "0",
          .help = "L2 penalty, added to the gradient.",
          .min = 0,
          .max = 10};
}

OptionSpec beta1_option() {
  return {.name = "beta1",
          .type = OptionType::kNumber,
          .default_text = "0.9",
          .help = "Decay of the gradients' running mean (arXiv 1412.6980, algorithm 1).",
          .min = 0,
          .max = 1,
          .max_exclusive = true};
}

OptionSpec beta2_option() {
  return {.name = "beta2",
          .type = OptionType::kNumber,
          .default_text = "0.999",
          .help = "Decay of the second moment (arXiv 1412.6980, algorithm 1).",
          .min = 0,
          .max = 1,
          .max_exclusive = true};
}

OptionSpec epsilon_option(const char* default_text) {
  return {.name = "epsilon",
          .type = OptionType::kNumber,
          .default_text = default_text,
          .help = "Added to the root of the second moment.",
          .min = 0,
          .max = 1,
          .min_exclusive = true};
}

OptionSpec exclude_option() {
  return {.name = "exclude",
          .type = OptionType::kChoice,
          .default_text = "vectors",
          .help =
              "Tensors with trust ratio 1 and without weight decay: vectors (one dimension: "
              "biases, scales of norms), none or all.",
          .choices = {"vectors", "none", "all"}};
}

Exclude exclude_of(const OptionValues& options) {
  const std::string& text = options.text("exclude");
  return text == "all" ? Exclude::kAll : text == "none" ? Exclude::kNone : Exclude::kVectors;
}

}  // namespace gradwire::trainers
