#include "runner/training/profile_cache.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "scenarios/document/pointer.h"
#include "scenarios/fields/fields.h"

namespace gradwire::runner {
namespace {

using nlohmann::ordered_json;

/// Fields that change nothing of what one worker's passes and codecs take. A field that is not
/// named here counts, so that a new one costs a measurement at worst.
constexpr std::string_view kWithoutInfluence[] = {
    "/network",  // but for the collective that is chosen by it, which is added
    "/executor",
    "/exchange/overlap",  // says when times pass, not how long they are
    "/workload/steps",
    "/workload/repetitions",
    "/workload/evaluate_every",
    "/workload/target_accuracy",
    "/workload/optimizer/lr",
    "/workload/optimizer/schedule",
    "/cluster/stragglers",  // multiples of the times
    "/cluster/spread",
    "/cluster/absences",
};

}  // namespace

bool decides_profile(std::string_view pointer) {
  for (const std::string_view without : kWithoutInfluence)
    if (scenarios::is_at_or_below(pointer, without)) return false;
  for (const scenarios::Field& field : scenarios::scenario_table().fields())
    if (field.free_of_hash && scenarios::is_at_or_below(pointer, field.pointer)) return false;
  return true;
}

std::string profile_key(const scenarios::Scenario& scenario, const scenarios::Trainer& trainer) {
  ordered_json decides = scenario.json;
  for (const std::string_view pointer : kWithoutInfluence) scenarios::erase_at(decides, pointer);
  for (const scenarios::Field& field : scenarios::scenario_table().fields())
    if (field.free_of_hash) scenarios::erase_at(decides, field.pointer);
  const auto chosen = trainer.collective_choice().candidates;
  if (!chosen.empty()) decides["exchange"]["collective"] = chosen.front().collective;
  // Profiles and data may be named by paths seen from the scenario's folder.
  return std::filesystem::path(scenario.file).parent_path().string() + "\n" + decides.dump();
}

}  // namespace gradwire::runner
