#include "scenarios/checks/combination_facts.h"

#include <algorithm>

namespace gradwire::scenarios::combined {

Places at(std::string pointer, bool meets) {
  return meets ? Places{std::move(pointer)} : Places{};
}

bool trains(const Scenario& scenario) {
  return scenario.workload.kind == WorkloadKind::kTraining;
}

bool by_server(const Scenario& scenario) {
  return trains(scenario) &&
         (scenario.schedule.kind == "rounds" || scenario.schedule.kind == "asynchronous");
}

bool is_kind(const Scenario& scenario, const char* kind) {
  return trains(scenario) && scenario.schedule.kind == kind;
}

bool gossips(const Scenario& scenario) {
  return is_kind(scenario, "gossip");
}

bool pipelines(const Scenario& scenario) {
  return is_kind(scenario, "pipeline");
}

bool is_late(const Scenario& scenario) {
  return gossips(scenario) && scenario.schedule.patience.has_value();
}

bool has_local_steps(const Scenario& scenario) {
  return is_kind(scenario, "lockstep") && scenario.schedule.local_steps != 1;
}

bool corrects_momentum(const Scenario& scenario) {
  return training_method(scenario)->plan(0, 0).up.momentum_correction.has_value();
}

bool sums_gradients(const Scenario& scenario) {
  const trainers::UpdateInfo* const update = trainers::find_update(scenario.workload.optimizer);
  return !update || update->sums_gradients;
}

bool has_phases(const Scenario& scenario) {
  return training_method(scenario)->phases() > 1;
}

bool acts_on_model(const Scenario& scenario) {
  return training_method(scenario)->acts_on_model();
}

bool loses(const Scenario& scenario) {
  return trains(scenario) && scenario.network.transport.protocol == Protocol::kUdpLossy;
}

bool needs_all(const Scenario& scenario) {
  const auto method = training_method(scenario);
  return method->computes() || method->buffers() > 0 || method->decides_every() > 0 ||
         method->plan(0, 0).weights_down;
}

bool has_steps_of_its_own(const Scenario& scenario) {
  const auto method = training_method(scenario);
  const bool answers = method->plan(0, 0).down.has_value() &&
                       (scenario.schedule.kind != "rounds" || method->stored_messages() == 0);
  return needs_all(scenario) || answers || method->copies() > 1;
}

bool runs_tcp(const Scenario& scenario) {
  return scenario.network.transport.protocol == Protocol::kTcp;
}

bool is_by(const Scenario& scenario, std::initializer_list<std::string_view> executors) {
  return std::ranges::find(executors, scenario.executor) != executors.end();
}

Places shared_media(const Scenario& scenario) {
  Places found;
  if (scenario.executor != "emulator") return found;
  for (const auto& [pointer, link] : given_links(scenario.network))
    if (link.half_duplex) found.push_back(pointer);
  return found;
}

}  // namespace gradwire::scenarios::combined
