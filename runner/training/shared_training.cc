#include "runner/training/shared_training.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/hash.h"
#include "scenarios/document/pointer.h"
#include "scenarios/fields/fields.h"

namespace gradwire::runner {
namespace {

/// Fields that change when things happen, and nothing of what is learnt. One that is not named here
/// counts, so that a new one costs a training at worst.
constexpr std::string_view kOfTimesAlone[] = {
    "/executor",           "/network/link",       "/network/server_link",
    "/network/uplink",     "/network/bottleneck", "/network/intra_link",
    "/network/site_links", "/network/traces",     "/network/background",
    "/network/cell",       "/network/transport",  "/workload/target_accuracy",
};

bool heeds_time(const scenarios::Scenario& scenario) {
  const scenarios::ScheduleChoice& schedule = scenario.schedule;
  const bool in_step =
      schedule.kind == "lockstep" || (schedule.kind == "gossip" && !schedule.patience);
  return !in_step || scenario.exchange.collective == "auto" ||
         scenario.network.transport.protocol == sim::TransportSettings::Protocol::kUdpLossy;
}

}  // namespace

std::string learning_key(const scenarios::Scenario& scenario) {
  if (scenario.workload.kind != scenarios::WorkloadKind::kTraining || heeds_time(scenario))
    return {};
  nlohmann::ordered_json decides = scenario.json;
  for (const std::string_view pointer : kOfTimesAlone) scenarios::erase_at(decides, pointer);
  for (const scenarios::Field& field : scenarios::scenario_table().fields())
    if (field.free_of_hash) scenarios::erase_at(decides, field.pointer);
  // Data and profiles may be named by paths seen from the scenario's folder.
  return std::filesystem::path(scenario.file).parent_path().string() + "\n" +
         std::to_string(scenario.seed) + "\n" + decides.dump();
}

SharedTraining::SharedTraining(std::span<const scenarios::Scenario> runs) {
  for (const scenarios::Scenario& run : runs) {
    const std::string key = learning_key(run);
    if (key.empty()) continue;
    Hasher hasher;
    hasher.add_bytes(std::as_bytes(std::span(key)));
    Group& group = groups_[hasher.value()];
    ++group.left;
    of_run_.emplace(&run, &group);
  }
  std::erase_if(of_run_, [](const auto& each) { return each.second->left < 2; });
}

SharedTraining::Group* SharedTraining::group_of(const scenarios::Scenario& scenario) const {
  const auto found = of_run_.find(&scenario);
  return found == of_run_.end() ? nullptr : found->second;
}

bool SharedTraining::begin(const scenarios::Scenario& scenario) {
  const std::lock_guard lock(mutex_);
  Group* const group = group_of(scenario);
  if (!group || group->trained) return true;
  return !std::exchange(group->training, true);
}

void SharedTraining::end(const scenarios::Scenario& scenario) {
  const std::lock_guard lock(mutex_);
  Group* const group = group_of(scenario);
  if (!group) return;
  if (!group->trained) group->training = false;
  if (--group->left == 0) group->trained = nullptr;
}

std::shared_ptr<const TrainedSteps> SharedTraining::find(
    const scenarios::Scenario& scenario) const {
  const std::lock_guard lock(mutex_);
  const Group* const group = group_of(scenario);
  return group ? group->trained : nullptr;
}

bool SharedTraining::is_wanted(const scenarios::Scenario& scenario) const {
  const std::lock_guard lock(mutex_);
  const Group* const group = group_of(scenario);
  return group && !group->trained && group->left > 1;
}

void SharedTraining::keep(const scenarios::Scenario& scenario,
                          std::shared_ptr<const TrainedSteps> trained) {
  const std::lock_guard lock(mutex_);
  Group* const group = group_of(scenario);
  if (group && group->left > 1) group->trained = std::move(trained);
}

}  // namespace gradwire::runner
