#include "scenarios/scenario_hash.h"

#include "base/hash.h"
#include "scenarios/document/pointer.h"
#include "scenarios/document/values.h"
#include "scenarios/fields/fields.h"
#include "scenarios/methods.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

/// Options at their defaults say nothing: one that a codec gains later must not change what older
/// scenarios hash to.
void drop_default_options(ordered_json& choice) {
  if (!choice.is_object()) return;
  for (auto& [key, value] : choice.items()) {
    if (key == "codec") drop_default_options(value);
    for (auto rule = value.begin(); key == "rules" && rule != value.end(); ++rule)
      drop_default_options(*rule);
  }
  const auto name = choice.find("name");
  const bool named = name != choice.end() && name->is_string();
  const compressors::CodecInfo* codec = named ? find_codec(name->get<std::string>()) : nullptr;
  if (!codec) return;
  for (const OptionSpec& option : codec->options) {
    const auto given = choice.find(option.name);
    Field field;
    field.spec = option;
    if (given != choice.end() && *given == default_value(field)) choice.erase(option.name);
  }
}

/// The same for optimisers. momentum and weight_decay have always stood in hashes.
void drop_default_options_of_optimizer(ordered_json& optimizer) {
  const auto name = optimizer.find("name");
  const bool named = name != optimizer.end() && name->is_string();
  const trainers::UpdateInfo* rule =
      named ? trainers::find_update(name->get<std::string>()) : nullptr;
  if (!rule) return;
  for (const OptionSpec& option : rule->options) {
    if (option.name == "momentum" || option.name == "weight_decay") continue;
    const auto given = optimizer.find(option.name);
    Field field;
    field.spec = option;
    if (given != optimizer.end() && *given == default_value(field)) optimizer.erase(option.name);
  }
}

/// A schedule that says nothing else than the usual one is left out.
void drop_default_schedule(ordered_json& part) {
  const auto schedule = part.find("schedule");
  if (schedule == part.end()) return;
  for (const Field& field : scenario_table().fields()) {
    const std::vector<std::string> tokens = pointer_tokens(field.pointer);
    if (tokens.size() != 2 || tokens[0] != "schedule") continue;
    const auto given = schedule->find(tokens[1]);
    if (given != schedule->end() && *given == default_value(field)) schedule->erase(tokens[1]);
  }
  if (schedule->empty()) part.erase("schedule");
}

}  // namespace

std::string scenario_hash(const ordered_json& canonical) {
  ordered_json part = canonical;
  for (const Field& field : scenario_table().fields())
    if (field.free_of_hash && pointer_tokens(field.pointer).size() == 1)
      part.erase(field.spec.name);
  if (part.contains("method")) drop_default_options(part["method"]);
  drop_default_schedule(part);
  if (find_at(part, "/workload/optimizer"))
    drop_default_options_of_optimizer(part["workload"]["optimizer"]);
  Hasher hasher;
  hasher.add_text(part.dump());
  return hasher.hex();
}

}  // namespace gradwire::scenarios
