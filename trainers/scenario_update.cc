#include "trainers/scenario_update.h"

#include "base/exact_text.h"
#include "scenarios/methods.h"

namespace gradwire::trainers {
UpdateSettings update_settings(const scenarios::Scenario& scenario) {
  const auto method = scenarios::training_method(scenario);
  return update_settings(scenario, method->plan(0, method->phases() - 1).update_momentum);
}

UpdateSettings update_settings(const scenarios::Scenario& scenario, bool applies_momentum) {
  const scenarios::Workload& workload = scenario.workload;
  UpdateSettings settings{workload.optimizer, workload.optimizer_options};
  const UpdateInfo* const row = find_update(settings.name);
  if (!row) return settings;  // refused where the rule is made
  for (const OptionSpec& option : row->options) {
    if (option.name == "momentum")
      settings.options[option.name] = exact_text(applies_momentum ? workload.momentum : 0);
    if (option.name == "weight_decay")
      settings.options[option.name] = exact_text(workload.weight_decay);
  }
  return settings;
}

namespace {

/// Workers whose batches one update takes together: not those of an asynchronous server, nor
/// clients of a round or workers that gossip, who train by themselves.
int together(const scenarios::Scenario& scenario) {
  return scenario.schedule.kind == "lockstep" ? scenario.cluster.workers : 1;
}

/// Batches that a step, a round or an update of a server takes.
double batches_of_step(const scenarios::Scenario& scenario) {
  const scenarios::ScheduleChoice& schedule = scenario.schedule;
  const int clients = schedule.sample > 0 ? schedule.sample : scenario.cluster.workers;
  const int workers = schedule.kind == "rounds"   ? clients
                      : schedule.kind == "gossip" ? scenario.cluster.workers
                                                  : together(scenario);
  return static_cast<double>(workers) * schedule.local_steps;
}

}  // namespace

double epochs_of(const scenarios::Scenario& scenario, std::size_t samples, std::int64_t steps) {
  const scenarios::ScheduleChoice& schedule = scenario.schedule;
  if (schedule.local_epochs) {  // of clients with equally many samples
    const int clients = schedule.sample > 0 ? schedule.sample : scenario.cluster.workers;
    return *schedule.local_epochs * clients / scenario.cluster.workers * static_cast<double>(steps);
  }
  const double seen = static_cast<double>(scenario.workload.batch_per_worker) *
                      batches_of_step(scenario) * static_cast<double>(steps);
  return seen / static_cast<double>(samples);
}

RateSchedule rate_schedule(const scenarios::Scenario& scenario, std::size_t samples) {
  const scenarios::Workload& workload = scenario.workload;
  return completed(workload.rate_schedule, workload.learning_rate,
                   {workload.steps, epochs_of(scenario, samples, workload.steps),
                    workload.batch_per_worker, together(scenario)});
}

}  // namespace gradwire::trainers
