#include "trainers/passes/layer_rules.h"

#include <mutex>

#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

struct Entries {
  std::mutex mutex;
  std::map<std::string, LayerRuleMaker> makers;
};

Entries& entries() {
  static Entries all;
  return all;
}

}  // namespace

LayerRuleEntry::LayerRuleEntry(const std::string& name, LayerRuleMaker maker) {
  const std::lock_guard lock(entries().mutex);
  if (!entries().makers.emplace(name, std::move(maker)).second)
    throw TrainerError("add layer rule", name, "there is one of that name");
}

LayerRules make_layer_rules(const std::vector<LayerRuleChoice>& choices) {
  const std::lock_guard lock(entries().mutex);
  LayerRules rules;
  for (const LayerRuleChoice& choice : choices) {
    const auto found = entries().makers.find(choice.name);
    if (found == entries().makers.end())
      throw TrainerError("make layer rule", choice.name, "there is no such rule");
    rules.push_back(found->second(choice.options));
  }
  return rules;
}

}  // namespace gradwire::trainers
