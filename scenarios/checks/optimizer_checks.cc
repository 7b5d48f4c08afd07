#include "scenarios/checks/optimizer_checks.h"

#include <algorithm>

#include "scenarios/build/build_parts.h"
#include "scenarios/document/pointer.h"
#include "scenarios/methods.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::scenarios {
namespace {

using trainers::RateSchedule;

const std::string kAt = "/workload/optimizer";
const std::string kSchedule = kAt + "/schedule";
constexpr double kLargeRate = 2;

std::string text_of(double value) {
  return option_text(nlohmann::ordered_json(value));
}

void check_options(const Rules& rules) {
  const Workload& workload = rules.scenario.workload;
  const auto option = [&](const char* name) {
    const auto found = workload.optimizer_options.find(name);
    return found == workload.optimizer_options.end() ? std::string() : found->second;
  };
  if (option("nesterov") == "true") {
    if (rules.sound({"/method"}) && codec_plan(rules.scenario.method).momentum_correction)
      rules.refuse(kAt + "/nesterov", "the workers apply the momentum, the optimiser does not",
                   "false, or /method/momentum_correction/nesterov true");
    else if (workload.momentum == 0)
      rules.refuse(kAt + "/nesterov", "there is no momentum to step along",
                   "false, or a momentum > 0");
  }
  for (const std::string bound : {"norm", "ratio"}) {
    const std::string low = option((bound + "_min").c_str()),
                      high = option((bound + "_max").c_str());
    if (low.empty() || high.empty() || std::stod(high) == 0) continue;
    if (std::stod(low) > std::stod(high))
      rules.refuse(kAt + "/" + bound + "_min",
                   low + " is above " + bound + "_max, which is " + high,
                   "at most " + high + ", or " + bound + "_max 0 (none)");
  }
}

void check_rate(const Rules& rules) {
  const Workload& workload = rules.scenario.workload;
  const trainers::UpdateInfo* const rule = trainers::find_update(workload.optimizer);
  if (!rule || rule->large_rates || workload.learning_rate <= kLargeRate) return;
  const nlohmann::ordered_json* const given = find_at(rules.scenario.json, kAt + "/lr");
  rules.warn(kAt + "/lr",
             "suspicious value " + (given ? given->dump() : "") + ": training usually diverges");
}

/// A schedule in steps can be compared with the run; one in epochs depends on the data's size.
void check_length(const Rules& rules, const RateSchedule& schedule) {
  const int steps = rules.scenario.workload.steps;
  if (schedule.in_epochs || !rules.sound({"/workload/steps"})) return;
  if (schedule.warm_up >= steps)
    rules.refuse(
        kSchedule + "/warm_up",
        "the run ends after " + std::to_string(steps) + " steps, before the rate is warmed up",
        "less than " + std::to_string(steps) + ", or more /workload/steps");
  for (const double milestone : schedule.milestones)
    if (milestone >= steps)
      rules.warn(kSchedule + "/milestones", "the run ends after " + std::to_string(steps) +
                                                " steps, before milestone " + text_of(milestone));
}

void check_schedule(const Rules& rules) {
  const RateSchedule& schedule = rules.scenario.workload.rate_schedule;
  if (schedule.warm_up == 0 && schedule.warm_up_from)
    rules.refuse(kSchedule + "/warm_up_from", "there is no warm-up that could start there",
                 "only with a warm_up > 0");
  if (schedule.over && *schedule.over <= schedule.warm_up)
    rules.refuse(kSchedule + "/over",
                 "the rate ends at " + text_of(*schedule.over) + ", and the warm-up at " +
                     text_of(schedule.warm_up),
                 "more than warm_up");
  const std::vector<double>& milestones = schedule.milestones;
  if (std::adjacent_find(milestones.begin(), milestones.end(), std::greater_equal<>()) !=
      milestones.end())
    rules.refuse(kSchedule + "/milestones", "they do not rise", "each after the one before");
  if (!milestones.empty() && milestones.front() < schedule.warm_up)
    rules.refuse(kSchedule + "/milestones",
                 "the first, " + text_of(milestones.front()) + ", comes within the warm-up",
                 "from warm_up on");
  check_length(rules, schedule);
}

}  // namespace

void check_optimizer(const Rules& rules) {
  if (!rules.sound({kAt})) return;
  check_options(rules);
  check_rate(rules);
  check_schedule(rules);
}

}  // namespace gradwire::scenarios
